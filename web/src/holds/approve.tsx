// May this call run, or this run go on? Once, for the session, edited, answered in its place, or not at all.

import { useContext, useState } from "preact/hooks";
import { FoldsOf } from "../foreign";
import { t } from "../i18n";
import { isObject } from "./schema";
import type { AnswerProps } from "./answer";
import { Confirm, needsTag, tagMatches } from "./confirm";
import { DenyPanel } from "./deny";
import { Panel } from "./panel";
import { longTexts } from "./parts";
import { asksToGoOn, type Json } from "../wire";

type Mode = "none" | "once" | "session" | "edit" | "respond" | "deny";

export function ApproveAnswer({ hold, answering, stale }: AnswerProps) {
  const [mode, setMode] = useState<Mode>("none");
  const toggle = (wanted: Mode) => setMode(mode === wanted ? "none" : wanted);
  const back = () => setMode("none");
  const off = answering.busy || stale;
  // Without the exact text nobody can know what they would approve.
  const blind = !hold.view?.parts;
  const { opened } = useContext(FoldsOf);
  // Nobody approves what they have not had before their eyes. A denial never waits.
  const unread = longTexts(hold).some((key) => !opened.has(key));
  const goOn = asksToGoOn(hold);
  const once = () => {
    if (needsTag(hold)) setMode("once");
    else answering.send({ verdict: "approve", scope: "once" });
  };
  return (
    <>
      {blind ? <p class="refusal">{t("hold.no_view")}</p> : null}
      {unread ? <p class="note unread">{t("approve.unread")}</p> : null}
      <div class="actions">
        {blind ? null : (
          <>
            <button type="button" class="primary" disabled={off || unread} aria-expanded={needsTag(hold) ? mode === "once" : undefined} onClick={once}>
              {answering.busy ? t("answer.sending") : t(goOn ? "approve.go_on" : "approve.once")}
            </button>
            {hold.session && !goOn ? (
              <button type="button" disabled={off || unread} aria-expanded={mode === "session"} onClick={() => toggle("session")}>
                {t("approve.session")}…
              </button>
            ) : null}
            {hold.call ? (
              <button type="button" disabled={off || unread} aria-expanded={mode === "edit"} onClick={() => toggle("edit")}>
                {t("approve.edit")}
              </button>
            ) : null}
          </>
        )}
        {goOn ? null : (
          <button type="button" disabled={off} aria-expanded={mode === "respond"} onClick={() => toggle("respond")}>
            {t("approve.respond")}
          </button>
        )}
        <button type="button" class="danger" disabled={off} aria-expanded={mode === "deny"} onClick={() => toggle("deny")}>
          {t(goOn ? "deny.go_on.open" : "deny.open")}
        </button>
      </div>
      {mode === "once" ? <ApprovePanel hold={hold} answering={answering} stale={stale} scope="once" back={back} /> : null}
      {mode === "session" ? <ApprovePanel hold={hold} answering={answering} stale={stale} scope="session" back={back} /> : null}
      {mode === "edit" ? <EditPanel hold={hold} answering={answering} stale={stale} back={back} /> : null}
      {mode === "respond" ? <RespondPanel hold={hold} answering={answering} stale={stale} back={back} /> : null}
      {mode === "deny" ? <DenyPanel hold={hold} answering={answering} stale={stale} back={back} /> : null}
    </>
  );
}

type PanelProps = AnswerProps & { back: () => void };

function ApprovePanel({ hold, answering, stale, scope, back }: PanelProps & { scope: "once" | "session" }) {
  const [tag, setTag] = useState("");
  const [wrong, setWrong] = useState(false);
  const submit = () => {
    if (!tagMatches(hold, tag)) return setWrong(true);
    answering.send({ verdict: "approve", scope });
  };
  return (
    <Panel off={answering.busy || stale} back={back} submit={submit} label={scope === "once" ? t("approve.once") : t("approve.session")}>
      {scope === "session" ? <p>{t("approve.session.note")}</p> : null}
      <Confirm hold={hold} tag={tag} setTag={setTag} wrong={wrong} />
    </Panel>
  );
}

function EditPanel({ hold, answering, stale, back }: PanelProps) {
  const original = JSON.stringify(hold.call?.arguments ?? {}, null, 2);
  const [text, setText] = useState(original);
  const [tag, setTag] = useState("");
  const [wrong, setWrong] = useState(false);
  const [error, setError] = useState<string | null>(null);
  // A browser reads 12345678901234567890 as another number; editing would change what nobody touched.
  if (hasUnsafeNumber(hold.call?.arguments ?? null)) return <p class="refusal">{t("approve.edit.unsafe")}</p>;
  const submit = () => {
    const problem = notAnObject(text);
    if (problem !== null) return setError(t("approve.edit.not_json", { error: problem }));
    if (hasPlaceholder(JSON.parse(text) as Json)) return setError(t("approve.edit.secret"));
    if (text.trim() === original) return setError(t("approve.edit.same"));
    setError(null);
    if (!tagMatches(hold, tag)) return setWrong(true);
    answering.sendText(`{"verdict":"approve","scope":"once","arguments":${text}}`);
  };
  return (
    <Panel off={answering.busy || stale} back={back} submit={submit} label={t("approve.edit.submit")}>
      <label class="field">
        <span>{t("approve.edit.label")}</span>
        <textarea
          class="code"
          spellcheck={false}
          rows={Math.min(18, original.split("\n").length + 2)}
          value={text}
          aria-invalid={error !== null}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      {error ? (
        <p class="field-error" role="alert">
          {error}
        </p>
      ) : null}
      {error === null && hasPlaceholder(hold.call?.arguments ?? null) ? <p class="note">{t("approve.edit.secret")}</p> : null}
      <p class="muted">{t("approve.edit.note")}</p>
      <Confirm hold={hold} tag={tag} setTag={setTag} wrong={wrong} />
    </Panel>
  );
}

function RespondPanel({ answering, stale, back }: PanelProps) {
  const [text, setText] = useState("");
  const [error, setError] = useState(false);
  const submit = () => {
    if (text.trim() === "") return setError(true);
    answering.send({ verdict: "respond", content: text });
  };
  return (
    <Panel off={answering.busy || stale} back={back} submit={submit} label={t("approve.respond.submit")}>
      <label class="field">
        <span>{t("approve.respond.label")}</span>
        <textarea rows={4} value={text} aria-invalid={error} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      {error ? (
        <p class="field-error" role="alert">
          {t("fill.missing")}
        </p>
      ) : null}
      <p class="muted">{t("approve.respond.note")}</p>
    </Panel>
  );
}

function notAnObject(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value as Json) ? null : typeof value;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

// What the server puts in place of a value that its schema calls secret.
const PLACEHOLDER = "[secret]";

function hasPlaceholder(value: Json): boolean {
  if (value === null || typeof value !== "object") return value === PLACEHOLDER;
  return Object.values(value).some(hasPlaceholder);
}

export function hasUnsafeNumber(value: Json): boolean {
  if (typeof value === "number") return Number.isInteger(value) && !Number.isSafeInteger(value);
  if (value === null || typeof value !== "object") return false;
  return Object.values(value).some(hasUnsafeNumber);
}
