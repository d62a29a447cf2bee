// Other arguments than those that were asked for: a field for each, or all as JSON. What changed is shown line by line, and what
// the changed call would do is looked at before anybody can approve it.

import { useEffect, useRef, useState } from "preact/hooks";
import * as api from "../api";
import { ArmButton, Segments } from "../components";
import { Chip, Quoted } from "../foreign";
import { codeOf } from "../highlight";
import { t } from "../i18n";
import type { EditPreview, Headline, Hold, Json } from "../wire";
import type { AnswerProps } from "./answer";
import { Bar } from "./bar";
import { Confirm, needsWord, wordMatches } from "./confirm";
import { compare, Difference } from "./difference";
import { argumentFields, composed, hasPlaceholder, hasUnsafeNumber, objectProblem, type ArgumentField } from "./edited";
import { headlineOf, lower, verbText } from "./headline";
import { isObject } from "./schema";

// Long enough that typing does not ask for every letter.
const LOOK_AFTER_MS = 500;

type Look = { of: string; state: "busy" | "missing" } | { of: string; state: "done"; found: EditPreview } | { of: string; state: "refused"; why: string };

export function EditAnswer({ hold, answering, calm, keys, setEdited, back }: AnswerProps & { back: () => void }) {
  const original = hold.call?.arguments ?? {};
  const [fields, setFields] = useState<ArgumentField[]>(() => argumentFields(original));
  const [raw, setRaw] = useState(() => JSON.stringify(original, null, 2));
  const [as, setAs] = useState<"form" | "json">("form");
  const [typed, setTyped] = useState("");
  const section = useRef<HTMLElement>(null);
  const text = as === "json" ? raw : composed(fields);
  const problem = editProblem(text, original);
  const look = useLook(hold, text, problem === null);
  const headline = look?.state === "done" ? editedHeadline(hold, look.found) : null;
  useEffect(() => {
    setEdited(headline);
    return () => setEdited(null);
  }, [headline ? verbText(headline) : null]);
  useEffect(() => {
    section.current?.scrollIntoView({ block: "start" });
    section.current?.querySelector<HTMLElement>("[data-argument] :is(textarea, input, select)")?.focus({ preventScroll: true });
  }, []);
  // A browser reads 12345678901234567890 as another number; editing would change what nobody touched.
  if (hasUnsafeNumber(original)) {
    return (
      <Bar above={<p class="refusal">{t("approve.edit.unsafe")}</p>}>
        <button type="button" onClick={back}>
          {t("answer.cancel")}
        </button>
      </Bar>
    );
  }
  const looked = look !== null && look.of === text && (look.state === "done" || look.state === "missing");
  const swap = (to: "form" | "json") => {
    if (to === "json") setRaw(pretty(composed(fields)));
    else if (objectProblem(raw) === null) setFields(argumentFields(JSON.parse(raw) as Json));
    setAs(to);
  };
  const send = () => answering.sendText(`{"verdict":"approve","scope":"once","arguments":${text}}`);
  return (
    <>
      <section class="card-in edit" aria-label={t("edit.title")} ref={section} data-edit>
        <div class="edit-head">
          <h2>{t("edit.title")}</h2>
          <Segments name={`edit-${hold.id}`} label={t("edit.as")} value={as} options={[{ id: "form", label: t("edit.form") }, { id: "json", label: t("edit.json") }]} choose={swap} />
        </div>
        {as === "json" ? (
          <label class="field">
            <span>{t("approve.edit.label")}</span>
            <textarea class="code" name="arguments" spellcheck={false} rows={Math.min(18, raw.split("\n").length + 2)} value={raw} aria-invalid={problem !== null} onInput={(event) => setRaw(event.currentTarget.value)} />
          </label>
        ) : (
          fields.map((field, at) => <ArgumentInput key={field.name} field={field} id={`edit-${hold.id}-${at}`} set={(value) => setFields(fields.map((one, index) => (index === at ? { ...one, text: value } : one)))} />)
        )}
        {problem && problem !== t("approve.edit.same") ? (
          <p class="field-error" role="alert">
            {problem}
          </p>
        ) : null}
        {problem === null ? <YourChange before={original} after={JSON.parse(text) as Json} /> : null}
        {problem === null ? <LookView hold={hold} look={look} /> : <p class="muted">{problem === t("approve.edit.same") ? problem : null} {t("approve.edit.note")}</p>}
      </section>
      <Bar above={needsWord(hold) ? <Confirm hold={hold} typed={typed} setTyped={setTyped} off={answering.busy} /> : undefined} note={looked || problem !== null ? undefined : t("edit.preview.first")}>
        <ArmButton
          label={headline ? t("approve.version.does", { verb: lower(verbText({ ...headline, amount: headline.amount ? { ...headline.amount, was: undefined } as never : null })) }) : t("approve.version")}
          does={headline ? lower(verbText(headline)) : t("approve.version")}
          keys={keys}
          off={answering.busy || problem !== null || !looked || !wordMatches(hold, typed)}
          calm={calm}
          kind={needsWord(hold) ? "danger-solid" : "primary"}
          press={send}
        />
        <button type="button" onClick={back}>
          {t("approve.discard")}
        </button>
      </Bar>
    </>
  );
}

function pretty(text: string): string {
  return objectProblem(text) === null ? JSON.stringify(JSON.parse(text), null, 2) : text;
}

function editProblem(text: string, original: Json): string | null {
  const problem = objectProblem(text);
  if (problem !== null) return t("approve.edit.not_json", { error: problem });
  const value = JSON.parse(text) as Json;
  if (hasPlaceholder(value)) return t("approve.edit.secret");
  if (text.replace(/\s/g, "") === JSON.stringify(original).replace(/\s/g, "") || JSON.stringify(value) === JSON.stringify(original)) return t("approve.edit.same");
  return null;
}

/** Asks what this text would do, a moment after the last change. */
function useLook(hold: Hold, text: string, sound: boolean): Look | null {
  const [look, setLook] = useState<Look | null>(null);
  useEffect(() => {
    if (!sound) return setLook(null);
    setLook({ of: text, state: "busy" });
    let left = false;
    const timer = setTimeout(() => {
      api.previewEdit(hold.id, text).then(
        (found) => left || setLook({ of: text, state: "done", found }),
        (error: unknown) => {
          if (left || !(error instanceof api.Refused)) return;
          // Such a server cannot look; what it does with the edit is checked when it is approved.
          const missing = error.status === 404 || error.status === 405;
          setLook(missing ? { of: text, state: "missing" } : { of: text, state: "refused", why: error.message });
        },
      );
    }, LOOK_AFTER_MS);
    return () => {
      left = true;
      clearTimeout(timer);
    };
  }, [text, sound]);
  return look;
}

function editedHeadline(hold: Hold, found: EditPreview): Headline {
  const before = headlineOf(hold);
  const now = found.headline ?? (before.amount && typeof found.preview.rows === "number" ? { ...before, amount: { ...before.amount, count: found.preview.rows } } : before);
  const [was, count] = [before.amount?.count, now.amount?.count];
  if (was === undefined || count === undefined || was === count || now.amount === null) return now;
  return { ...now, amount: { ...now.amount, was } };
}

function YourChange({ before, after }: { before: Json; after: Json }) {
  const [old, now] = [isObject(before) ? before : {}, isObject(after) ? after : {}];
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])].filter((name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]));
  const shown = (value: Json | undefined): string => (value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value, null, 2));
  return (
    <>
      {names.map((name) => (
        <Difference key={name} label={<>{t("edit.diff")} <Chip text={name} /></>} by="person" rows={compare(shown(old[name]), shown(now[name]))} />
      ))}
    </>
  );
}

function LookView({ hold, look }: { hold: Hold; look: Look | null }) {
  if (look === null) return null;
  return (
    <section class="sec" aria-live="polite" data-look={look.state}>
      <h2>{t("edit.preview")}</h2>
      {look.state === "busy" ? <p class="muted">{t("edit.preview.busy")}</p> : null}
      {look.state === "missing" ? <p class="note">{t("edit.preview.missing")}</p> : null}
      {look.state === "refused" ? (
        <div class="refusal-block" role="alert">
          <Quoted text={look.why} prose />
        </div>
      ) : null}
      {look.state === "done" ? <Found hold={hold} found={look.found} /> : null}
    </section>
  );
}

function Found({ hold, found }: { hold: Hold; found: EditPreview }) {
  const [before, now] = [headlineOf(hold), editedHeadline(hold, found)];
  const counted = now.amount?.count !== undefined;
  return (
    <>
      {counted ? (
        <p class="note found">
          <b>{verbText({ ...now, amount: now.amount ? ({ ...now.amount, was: undefined } as never) : null })}</b> <span class="muted">{before.amount?.count === now.amount?.count ? "" : t("edit.preview.was", { before: lower(verbText(before)) })}</span>
        </p>
      ) : null}
      {found.preview.summary && !counted ? <Quoted text={found.preview.summary} prose /> : null}
      {!found.preview.summary && !counted ? <p class="note">{t("edit.preview.none")}</p> : null}
      {(found.preview.warnings ?? []).map((warning, at) => (
        <div class="warning" key={at}>
          <Quoted text={warning} prose />
        </div>
      ))}
      {found.may_approve ? null : <p class="note unread">{t("edit.preview.others")}</p>}
      {found.verdict === "allow" ? <p class="muted">{t("edit.preview.allowed")}</p> : null}
    </>
  );
}

function ArgumentInput({ field, id, set }: { field: ArgumentField; id: string; set: (text: string) => void }) {
  const common = { id, name: field.name, spellcheck: false, value: field.text, onInput: (event: { currentTarget: { value: string } }) => set(event.currentTarget.value) };
  const code = field.kind === "text" && codeOf(field.name, field.text) !== null;
  return (
    <div class="field" data-argument={field.name}>
      <label for={id}>
        <Chip text={field.name} />
      </label>
      {field.kind === "text" ? (
        <textarea {...common} class={code ? "code" : undefined} rows={Math.min(12, field.text.split("\n").length + (field.text.length > 80 ? 1 : 0))} />
      ) : field.kind === "yes_no" ? (
        <select {...common} onChange={common.onInput}>
          <option value="true">true</option>
          <option value="false">false</option>
        </select>
      ) : field.kind === "number" ? (
        <input {...common} inputMode="decimal" autocomplete="off" />
      ) : (
        <>
          <textarea {...common} class="code" rows={Math.min(12, field.text.split("\n").length + 1)} aria-describedby={`${id}-raw`} />
          <small id={`${id}-raw`} class="hint">
            {t("edit.raw")}
          </small>
        </>
      )}
    </div>
  );
}
