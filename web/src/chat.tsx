// `/sessions/{id}`: the run as it goes, each hold where it came up, and a place to say more.

import { useEffect, useRef, useState } from "preact/hooks";
import * as api from "./api";
import { useDraft } from "./drafts";
import { AttachBar, dropHandlers } from "./files/attach";
import { useAttached } from "./files/attached";
import { Heading, Quoted } from "./foreign";
import { EmbeddedHold } from "./holds/embedded";
import { Refusal } from "./holds/refusal";
import { Icon } from "./icons";
import { t, word } from "./i18n";
import { useLive } from "./live";
import { MessageView } from "./parts/message";
import { RunTime } from "./parts/run_time";
import { Plain } from "./plain";
import { useSending } from "./sending";
import { useSession } from "./session";
import { span } from "./time";
import { idOf, type Session, type ToolResultPart } from "./wire";

// Someone who has scrolled further up than this is reading, and is left there.
const NEAR_END_PX = 160;

export function Chat({ id }: { id: string }) {
  const { session, drafts } = useSession(id);
  const [sent, setSent] = useState<{ id: string; text: string }[]>([]);
  const end = useRef<HTMLDivElement>(null);
  const ready = typeof session !== "string";
  const shape = ready ? `${session.messages.length}/${drafts.map((draft) => JSON.stringify(draft.parts).length).join()}/${session.run?.status}` : "";

  const live = useLive();
  const waits = (ready ? (session.pending ?? []) : []).map(idOf).find((hold) => typeof live.known(hold) !== "string");
  useEffect(() => {
    // A desk scrolls the pane, a phone the page.
    const pane = end.current?.closest<HTMLElement>(".pane");
    const inPane = pane !== null && pane !== undefined && pane.scrollHeight > pane.clientHeight && getComputedStyle(pane).overflowY === "auto";
    const below = inPane ? pane.scrollHeight - pane.scrollTop - pane.clientHeight : document.documentElement.scrollHeight - scrollY - innerHeight;
    if (waits === undefined && below < NEAR_END_PX) end.current?.scrollIntoView({ block: "end" });
  }, [shape]);
  useEffect(() => {
    // What has to be read before it is answered is brought into view from its beginning.
    if (waits !== undefined) document.querySelector(`.chat [data-hold="${CSS.escape(waits)}"]`)?.scrollIntoView({ block: "nearest" });
  }, [waits]);

  if (session === "loading") return <p class="loading">{t("app.loading")}</p>;
  if (session === "gone") {
    return (
      <div class="empty">
        <p>{t("refused.not_found")}</p>
        <a href="/sessions">{t("app.back")}</a>
      </div>
    );
  }

  const results = new Map<string, ToolResultPart>();
  const inParts = new Set<string>();
  for (const message of session.messages) {
    for (const part of message.parts) {
      if (part.type === "tool-result") results.set(part.toolCallId, part);
      if (part.type === "tool-call" && part.hold) inParts.add(idOf(part.hold));
    }
  }
  const arrived = new Set(session.messages.map((message) => message.id));
  const queued = sent.filter((one) => !arrived.has(one.id));
  const pending = (session.pending ?? []).map(idOf);
  const elsewhere = pending.filter((hold) => !inParts.has(hold));

  return (
    <section class="chat" aria-labelledby="chat-title">
      <header class="chat-head">
        <h1 id="chat-title" tabIndex={-1}>
          <Heading text={session.title || firstWords(session) || session.agent} />
        </h1>
        <p class="muted">
          {t("chat.agent")}: <Plain text={session.agent} />
        </p>
      </header>
      <div class="messages" role="log" aria-live="off">
        {session.messages.map((message) => (
          <MessageView key={message.id} message={message} agent={session.agent} creator={session.creator} results={results} />
        ))}
        {drafts.map((draft) => (
          <MessageView key={draft.id} message={draft} agent={session.agent} creator={session.creator} results={results} draft />
        ))}
        {elsewhere.length > 0 ? (
          <section class="elsewhere" aria-label={t("chat.other_holds")}>
            {elsewhere.map((hold) => (
              <EmbeddedHold key={hold} id={hold} />
            ))}
          </section>
        ) : null}
        {queued.map((one) => (
          <article key={one.id} class="message from-user queued">
            <header class="message-head">
              <strong>{t("chat.you")}</strong>
              <span>{t("chat.queued")}</span>
            </header>
            <Quoted text={one.text} prose whole />
          </article>
        ))}
      </div>
      <RunLine session={session} writing={drafts.length > 0} />
      <RunTime session={session} />
      <Composer session={session.id} open={pending.length > 0} said={(id, text) => setSent([...sent, { id, text }])} />
      <div ref={end} />
    </section>
  );
}

/** A session that a program opened may have no title: then it is what was said first. */
function firstWords(session: Session): string {
  const first = session.messages.find((message) => message.role === "user" && message.origin !== "runtime");
  const said = first?.parts.find((part) => part.type === "text");
  return said?.type === "text" ? (said.text.trim().split("\n")[0] ?? "") : "";
}

function RunLine({ session, writing }: { session: Session; writing: boolean }) {
  const [problem, setProblem] = useState<api.Refused | null>(null);
  const run = session.run;
  if (!run) return null;
  const attempt = (work: Promise<unknown>) => {
    setProblem(null);
    work.catch((error: unknown) => {
      if (error instanceof api.Refused) setProblem(error);
    });
  };
  const error = typeof run.error === "string" ? run.error : run.error ? JSON.stringify(run.error) : "";
  return (
    <div class="run">
      <p class={`run-line run-${run.status}`} data-run={run.status} role="status">
        <Icon name={run.status === "running" ? "executing" : run.status === "paused" ? "pending" : run.status === "completed" ? "succeeded" : run.status === "failed" ? "failed" : "cancelled"} />
        {run.status === "running" && !writing ? t("chat.thinking") : word("run", run.status)}
        {run.status === "running" || run.status === "paused" ? (
          <button type="button" class="quiet" onClick={() => attempt(api.cancelRun(run.id))}>
            {t("chat.stop")}
          </button>
        ) : null}
        {run.status === "failed" ? (
          <button type="button" class="quiet" onClick={() => attempt(api.retryRun(run.id))}>
            {t("chat.retry")}
          </button>
        ) : null}
      </p>
      {run.status === "failed" && error !== "" ? (
        <div class="refusal">
          {t("run.failed.why")}
          <Quoted text={error} prose />
        </div>
      ) : null}
      {run.status === "cancelled" && run.reason ? (
        <div class="refusal">
          {t("run.cancelled.why")}
          <Quoted text={run.reason} prose />
        </div>
      ) : null}
      {run.usage ? (
        <p class="muted" data-usage>
          {t("run.usage", { turns: run.usage.turns, tokens: run.usage.input_tokens + run.usage.output_tokens, time: run.usage.time_s < 1 ? t("run.usage.moment") : span(run.usage.time_s * 1000) })}
          {run.usage.money ? t("run.usage.money", { money: run.usage.money }) : ""}
        </p>
      ) : null}
      {problem ? <Refusal problem={problem} /> : null}
    </div>
  );
}

function Composer({ session, open, said }: { session: string; open: boolean; said: (id: string, text: string) => void }) {
  const [text, setText] = useDraft(session, "say");
  const [supersede, setSupersede] = useState(false);
  const sending = useSending();
  const attached = useAttached();
  const nothing = (text.trim() === "" && attached.ids.length === 0) || attached.waits;
  const submit = async () => {
    if (nothing || sending.busy) return;
    const id = await sending.goOn(session, text, open && supersede ? "supersede" : "queue", attached.ids);
    if (id === null) return;
    said(id, text);
    setText("");
    attached.clear();
    setSupersede(false);
  };
  return (
    <form
      class="composer"
      {...dropHandlers(attached)}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <label class="field">
        <span>{t("chat.say")}</span>
        <textarea name="say" rows={2} placeholder={t("chat.say.placeholder")} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <AttachBar attached={attached} />
      {open ? <p class="muted">{t("chat.open_holds")}</p> : null}
      {open ? (
        <label class="choice">
          <input type="checkbox" name="supersede" checked={supersede} onChange={(event) => setSupersede(event.currentTarget.checked)} />
          <span>{t("chat.supersede")}</span>
        </label>
      ) : null}
      <div class="actions">
        <button type="submit" class="primary" disabled={sending.busy || nothing}>
          {sending.busy ? t("chat.sending") : t("chat.send")}
        </button>
        <span class="muted hint">{t("chat.hint")}</span>
      </div>
      {sending.refused ? <Refusal problem={sending.refused} /> : null}
    </form>
  );
}
