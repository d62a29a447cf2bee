// The start of a session: choose an agent, say something, or try one of the demo's scenarios.

import { useState } from "preact/hooks";
import { Refusal } from "./holds/refusal";
import { t, word } from "./i18n";
import { Plain } from "./plain";
import { go, sessionPath } from "./route";
import { useSending } from "./sending";
import { useMe } from "./who";

/** The composer alone, beside the list of sessions. */
export function NewSession() {
  return <Start />;
}

export function Start() {
  const me = useMe();
  const [agent, setAgent] = useState(me.agents[0] ?? "");
  const [text, setText] = useState("");
  const sending = useSending();
  // The demo's agent knows its scenarios best, so they come first.
  const scripted = (me.demo ?? []).length > 0 && me.agents.length > 0;
  const begin = async (said: string) => {
    if (said.trim() === "" || agent === "" || sending.busy) return;
    const id = await sending.begin(agent, said);
    if (id !== null) go(sessionPath(id));
  };
  return (
    <section class="start" aria-labelledby="start-title">
      <h1 id="start-title" tabIndex={-1}>
        {t("chat.new")}
      </h1>
      {sending.refused ? <Refusal problem={sending.refused} /> : null}
      {scripted ? (
        <section class="scenarios" aria-labelledby="scenarios-title">
          <h2 id="scenarios-title">{t("chat.scenarios")}</h2>
          <p class="muted">{t("chat.scenarios.note")}</p>
          <ul>
            {(me.demo ?? []).map((scenario) => (
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
      {scripted ? <h2>{t("chat.own")}</h2> : null}
      {me.agents.length === 0 ? (
        <p class="muted">{t("chat.no_agents")}</p>
      ) : (
        <form
          class="composer"
          onSubmit={(event) => {
            event.preventDefault();
            void begin(text);
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
            <span>{t("chat.say")}</span>
            <textarea name="say" rows={3} placeholder={t("chat.say.placeholder")} value={text} onInput={(event) => setText(event.currentTarget.value)} />
          </label>
          <div class="actions">
            <button type="submit" class="primary" disabled={sending.busy || text.trim() === ""}>
              {sending.busy ? t("chat.sending") : t("chat.send")}
            </button>
            <span class="muted hint">{t("chat.hint")}</span>
          </div>
        </form>
      )}
    </section>
  );
}
