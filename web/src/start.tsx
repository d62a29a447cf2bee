// `/start`: the demo's story in a minute, with one real stop to decide, and the start of any other session.

import { useEffect, useState } from "preact/hooks";
import { Button, Pill } from "./components";
import { useDraft } from "./drafts";
import { AttachBar, dropHandlers } from "./files/attach";
import { useAttached } from "./files/attached";
import { Quoted } from "./foreign";
import { EmbeddedHold } from "./holds/embedded";
import { Refusal } from "./holds/refusal";
import { Icon } from "./icons";
import { t, word, type Key } from "./i18n";
import { useHold, useLive } from "./live";
import { Plain } from "./plain";
import { go, sessionPath } from "./route";
import { useSending } from "./sending";
import { useSession } from "./session";
import { useMe } from "./who";
import { idOf } from "./wire";

// The scenario whose stop is shown beside the story.
const FIRST = "approve";

export function Start() {
  const me = useMe();
  const scenarios = me.agents.length > 0 ? (me.demo ?? []) : [];
  const first = scenarios.find((scenario) => scenario.name === FIRST) ?? scenarios[0];
  const sending = useSending();
  const begin = async (said: string) => {
    if (sending.busy) return;
    const id = await sending.begin(me.agents[0] ?? "", said);
    if (id !== null) go(sessionPath(id));
  };
  return (
    <section class="start wide-page" aria-labelledby="start-title">
      {first ? <Story say={first.say} /> : null}
      {sending.refused ? <Refusal problem={sending.refused} /> : null}
      {first ? (
        <section class="scenarios" aria-labelledby="scenarios-title">
          <h2 id="scenarios-title">{t("start.more")}</h2>
          <ul>
            {scenarios.map((scenario) => (
              <li key={scenario.name}>
                <button type="button" disabled={sending.busy} data-scenario={scenario.name} onClick={() => void begin(scenario.say)}>
                  <strong>{word("chat.scenario", scenario.name)}</strong>
                  <small>
                    <Plain text={scenario.say} />
                  </small>
                </button>
              </li>
            ))}
          </ul>
        </section>
      ) : null}
      <NewSession title={first ? t("chat.own") : t("chat.new")} main={!first} />
    </section>
  );
}

/** How far the story is: words about a call that waits must not stand beside one that has run. */
type Stage = "before" | "stopped" | "decided";

/** One real stop: a press, and within a second an agent stands still and asks. */
function Story({ say }: { say: string }) {
  const me = useMe();
  const sending = useSending();
  const [session, setSession] = useState<string | null>(null);
  const [stage, setStage] = useState<Stage>("before");
  const begin = async () => {
    const id = await sending.begin(me.agents[0] ?? "", say);
    if (id !== null) setSession(id);
  };
  return (
    <div class="story">
      <div class="story-words">
        <p>
          <Pill tone="brand">{t("nav.start")}</Pill> <span class="muted">{t("start.shop")}</span>
        </p>
        <h1 id="start-title" tabIndex={-1}>
          {t(stage === "before" ? "start.title" : `start.title.${stage}`)}
        </h1>
        <p class="story-lead">{t(stage === "before" ? "start.lead" : `start.lead.${stage}`)}</p>
        <p class="story-actions">
          {session === null ? (
            <Button kind="primary" disabled={sending.busy} data-story onClick={() => void begin()}>
              <Icon name="start" />
              {sending.busy ? t("chat.sending") : t("start.go")}
            </Button>
          ) : (
            <a class="button" href={sessionPath(session)}>
              {t("hold.open_session")}
            </a>
          )}
          <a class="button" href="/">
            {t("start.inbox")}
          </a>
        </p>
        {sending.refused ? <Refusal problem={sending.refused} /> : null}
        {session === null ? null : <Steps stage={stage} />}
      </div>
      <div class="story-stop">{session === null ? <Waiting say={say} /> : <Stop session={session} tell={setStage} />}</div>
      {session === null ? <Steps stage={stage} /> : null}
    </div>
  );
}

function Waiting({ say }: { say: string }) {
  return (
    <div class="story-blank">
      <p class="muted">{t("start.told")}</p>
      <Quoted text={say} prose />
      <span class="hold-line" aria-hidden="true" />
      <p class="muted">{t("start.beyond")}</p>
    </div>
  );
}

/** The first hold of a session, where it stands now. */
function useStop(session: string): string | null {
  const followed = useSession(session).session;
  if (typeof followed === "string") return null;
  for (const message of followed.messages) {
    for (const part of message.parts) if (part.type === "tool-call" && part.hold) return idOf(part.hold);
  }
  const [pending] = followed.pending ?? [];
  return pending === undefined ? null : idOf(pending);
}

interface Tell {
  tell: (stage: Stage) => void;
}

function Stop({ session, tell }: Tell & { session: string }) {
  const stop = useStop(session);
  return stop === null ? <p class="loading late">{t("chat.thinking")}</p> : <StopCard key={stop} id={stop} tell={tell} />;
}

function StopCard({ id, tell }: Tell & { id: string }) {
  const hold = useHold(id);
  const stage = typeof hold === "string" ? null : hold.state === "pending" ? "stopped" : "decided";
  useEffect(() => {
    if (stage !== null) tell(stage);
  }, [stage]);
  return <EmbeddedHold id={id} />;
}

const STEPS_DONE: Record<Stage, number> = { before: 0, stopped: 1, decided: 3 };

const STEPS: [Key, Key][] = [
  ["start.step.stops", "start.step.stops.note"],
  ["start.step.decide", "start.step.decide.note"],
  ["start.step.goes_on", "start.step.goes_on.note"],
];

function Steps({ stage }: { stage: Stage }) {
  return (
    <ol class="steps">
      {STEPS.map(([name, note], at) => (
        <li key={name} class={at < STEPS_DONE[stage] ? "on" : undefined}>
          <b>
            <span class="muted num">{at + 1}</span> {t(name)}
          </b>
          <span>{t(note)}</span>
        </li>
      ))}
    </ol>
  );
}

/** Say something to an agent. */
export function NewSession({ title = t("chat.new"), main = true }: { title?: string; main?: boolean }) {
  const me = useMe();
  useLive();
  const [agent, setAgent] = useState(me.agents[0] ?? "");
  const [text, setText] = useDraft("new", "say");
  const sending = useSending();
  const attached = useAttached();
  const nothing = (text.trim() === "" && attached.ids.length === 0) || attached.waits;
  const begin = async () => {
    if (nothing || agent === "" || sending.busy) return;
    const id = await sending.begin(agent, text, attached.ids);
    if (id === null) return;
    setText("");
    go(sessionPath(id));
  };
  const Heading = main ? "h1" : "h2";
  return (
    <section class="new-session" aria-labelledby="new-session">
      <Heading id="new-session" tabIndex={main ? -1 : undefined}>
        {title}
      </Heading>
      {sending.refused ? <Refusal problem={sending.refused} /> : null}
      {me.agents.length === 0 ? (
        <p class="muted">{t("chat.no_agents")}</p>
      ) : (
        <form
          class="composer"
          {...dropHandlers(attached)}
          onSubmit={(event) => {
            event.preventDefault();
            void begin();
          }}
        >
          {me.agents.length === 1 ? (
            <p class="muted">
              {t("chat.agent")}: <Plain text={agent} />
            </p>
          ) : (
            <label class="field">
              <span>{t("chat.agent")}</span>
              <select name="agent" value={agent} onChange={(event) => setAgent(event.currentTarget.value)}>
                {me.agents.map((id) => (
                  <option key={id} value={id}>
                    {id}
                  </option>
                ))}
              </select>
            </label>
          )}
          <label class="field">
            <span class="sr">{t("chat.say")}</span>
            <textarea name="say" rows={3} placeholder={t("chat.say.placeholder")} value={text} onInput={(event) => setText(event.currentTarget.value)} />
          </label>
          <AttachBar attached={attached} />
          <div class="actions">
            <Button submit kind="primary" disabled={sending.busy || nothing}>
              {sending.busy ? t("chat.sending") : t("chat.send")}
            </Button>
            <span class="hint">{t("chat.hint")}</span>
          </div>
        </form>
      )}
    </section>
  );
}
