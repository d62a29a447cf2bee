// One field of a form, drawn by its kind. A wrong value is told right beside it. Title, description, choices and suggested value
// are somebody else's words, and stand on sand wherever they are: a list that the browser draws by itself would have none.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { FileInput } from "../files/input";
import { Chip, foreignOf, Quoted } from "../foreign";
import { codeOf } from "../highlight";
import { t } from "../i18n";
import type { Json } from "../wire";
import { draftIn, draftOf, emptyDraft, isPreselected, type Draft, type Errors, type Field } from "./schema";

interface Props {
  field: Field;
  /** Unique on the page, since two forms may ask for the same name. */
  id: string;
  path: string;
  draft: Draft;
  set: (draft: Draft) => void;
  errors: Errors;
  /** Beside the name. */
  aside?: ComponentChildren;
}

export function FieldView(props: Props) {
  const { field, id, path, draft, set, errors, aside } = props;
  // A name may be one that every object has.
  const error = Object.hasOwn(errors, path) ? (errors[path] ?? null) : null;
  const grouped = field.kind === "many" || field.kind === "boolean" || field.kind === "enum" || field.kind === "group" || field.kind === "list";
  const told = [field.description ? `${id}-about` : "", error ? `${id}-error` : ""].filter(Boolean).join(" ") || undefined;
  const head = <Head field={field} />;
  const about = <AboutField field={field} id={id} />;
  return (
    <div class={`field field-${field.kind}`} data-field={field.name} data-path={path}>
      {grouped ? (
        <fieldset class="choices" aria-describedby={told}>
          <legend>{head}</legend>
          {aside}
          {about}
          {field.kind === "group" ? <Group {...props} /> : field.kind === "list" ? <Items {...props} /> : <Picks field={field} id={id} draft={draft} set={set} />}
        </fieldset>
      ) : (
        <>
          <span class="field-head">
            <label for={id}>{head}</label>
            {aside}
          </span>
          {about}
          <Input field={field} id={id} draft={draft} set={set} wrong={error !== null} told={told} />
        </>
      )}
      <Suggested field={field} set={set} />
      {error ? (
        <p class="field-error" role="alert" id={`${id}-error`}>
          {error}
        </p>
      ) : null}
    </div>
  );
}

function Head({ field }: { field: Field }) {
  return (
    <>
      <ForeignLabel text={field.title} />{" "}
      <small class="muted">{[...(field.quiet ? [] : [t(field.required ? "fill.required" : "fill.optional")]), ...(field.kind === "json" ? [t("fill.json")] : [])].join(", ")}</small>
    </>
  );
}

/** A short word is a chip of one line; anything longer or with marks has lines of its own. */
export function ForeignLabel({ text }: { text: string }) {
  const foreign = foreignOf(text);
  const plain = foreign.lines.length === 1 && foreign.bytes <= 80 && (foreign.lines[0] ?? []).every((span) => typeof span === "string");
  return plain ? <Chip text={foreign} /> : <Quoted text={foreign} prose />;
}

function AboutField({ field, id }: { field: Field; id: string }) {
  return (
    <>
      {field.description ? (
        <div class="about" id={`${id}-about`}>
          <Quoted text={field.description} prose />
        </div>
      ) : null}
      {field.kind === "secret" ? <small class="hint">{t("fill.secret")}</small> : null}
      {field.kind === "moment" ? <small class="hint">{t("fill.zone", { zone: Intl.DateTimeFormat().resolvedOptions().timeZone })}</small> : null}
    </>
  );
}

function Suggested({ field, set }: { field: Field; set: (draft: Draft) => void }) {
  if (field.suggested === undefined || field.kind === "secret") return null;
  if (isPreselected(field)) return <small class="hint">{t("fill.default.set")}</small>;
  return (
    <div class="suggested">
      <small>{t("fill.default")}</small>
      <Quoted text={typeof field.suggested === "boolean" ? t(field.suggested ? "fill.yes" : "fill.no") : JSON.stringify(field.suggested)} />
      <button type="button" class="link" onClick={() => set(draftOf(field, field.suggested ?? null))}>
        {t("fill.default.use")}
      </button>
    </div>
  );
}

function Group({ field, id, path, draft, set, errors }: Props) {
  const { group, ...from } = typeof draft === "object" && "group" in draft ? draft : { group: {} };
  return (
    <div class="field-group">
      {field.fields.map((one, at) => (
        <FieldView key={one.name} field={one} id={`${id}-${at}`} path={`${path}/${one.name}`} draft={draftIn(group, one.name) ?? emptyDraft(one)} set={(next) => set({ ...from, group: { ...group, [one.name]: next } })} errors={errors} />
      ))}
    </div>
  );
}

function Items({ field, id, path, draft, set, errors }: Props) {
  const { item } = field;
  if (item === null) return null;
  const { list, ...from } = typeof draft === "object" && "list" in draft ? draft : { list: [] };
  return (
    <div class="field-list">
      {list.map((one, at) => (
        <div class="field-item" key={at}>
          <span class="field-item-no">{t("fill.item", { n: at + 1 })}</span>
          {item.kind === "group" ? (
            <Group field={item} id={`${id}-${at}`} path={`${path}/${at}`} draft={one} set={(next) => set({ ...from, list: list.map((other, index) => (index === at ? next : other)) })} errors={errors} />
          ) : (
            <ItemInput field={item} id={`${id}-${at}`} no={at + 1} draft={one} set={(next) => set({ ...from, list: list.map((other, index) => (index === at ? next : other)) })} error={errors[`${path}/${at}`] ?? null} />
          )}
          <button type="button" class="tiny" onClick={() => set({ ...from, list: list.filter((_, index) => index !== at) })}>
            {t("fill.remove")}
            <span class="sr"> {t("fill.item", { n: at + 1 })}</span>
          </button>
        </div>
      ))}
      <button type="button" class="tiny" data-add onClick={() => set({ ...from, list: [...list, emptyDraft(item)] })}>
        {t("fill.add")}
      </button>
    </div>
  );
}

function ItemInput({ field, id, no, draft, set, error }: { field: Field; id: string; no: number; draft: Draft; set: (draft: Draft) => void; error: string | null }) {
  const picks = field.kind === "enum" || field.kind === "boolean" || field.kind === "many";
  return (
    <div class="field-item-input">
      {picks ? <Picks field={field} id={id} draft={draft} set={set} /> : <Input field={field} id={id} draft={draft} set={set} wrong={error !== null} told={error ? `${id}-error` : undefined} label={t("fill.item", { n: no })} />}
      {error ? (
        <p class="field-error" role="alert" id={`${id}-error`}>
          {error}
        </p>
      ) : null}
    </div>
  );
}

interface InputProps {
  field: Field;
  id: string;
  draft: Draft;
  set: (draft: Draft) => void;
  wrong: boolean;
  told: string | undefined;
  label?: string;
}

function Input({ field, id, draft, set, wrong, told, label }: InputProps) {
  const [seen, setSeen] = useState(false);
  const text = typeof draft === "string" ? draft : "";
  const common = { id, name: field.name, value: text, "aria-invalid": wrong, "aria-describedby": told, "aria-required": field.required, "aria-label": label };
  const typed = (event: { currentTarget: { value: string } }) => set(event.currentTarget.value);
  switch (field.kind) {
    case "written":
      return <textarea {...common} class={codeOf(field.name, text) === null ? undefined : "code"} rows={Math.min(12, text.split("\n").length + (text.length > 80 ? 1 : 0))} spellcheck={false} onInput={typed} />;
    case "long":
      return <textarea {...common} rows={4} onInput={typed} />;
    case "json":
      return <textarea {...common} class="code" rows={5} spellcheck={false} onInput={typed} />;
    case "secret":
      return (
        <span class="with-button">
          {seen ? <input {...common} autocomplete="off" spellcheck={false} onInput={typed} /> : <input {...common} type="password" autocomplete="new-password" spellcheck={false} onInput={typed} />}
          <button type="button" aria-pressed={seen} onClick={() => setSeen(!seen)}>
            {t(seen ? "fill.hide" : "fill.show")}
          </button>
        </span>
      );
    case "number":
    case "integer":
      return <input {...common} inputMode={field.kind === "integer" ? "numeric" : "decimal"} autocomplete="off" onInput={typed} />;
    case "file":
      return <FileInput id={id} name={field.name} value={text} set={set} wrong={wrong} told={told} required={field.required} />;
    case "email":
      return <input {...common} type="email" autocomplete="off" spellcheck={false} onInput={typed} />;
    case "date":
      return <input {...common} type="date" onInput={typed} />;
    case "moment":
      return <input {...common} type="datetime-local" onInput={typed} />;
    default:
      return <input {...common} autocomplete="off" onInput={typed} />;
  }
}

function Picks({ field, id, draft, set }: { field: Field; id: string; draft: Draft; set: (draft: Draft) => void }) {
  if (field.kind === "many") {
    const picked = draft instanceof Set ? (draft as ReadonlySet<number>) : new Set<number>();
    const toggle = (at: number, on: boolean) => {
      const next = new Set(picked);
      if (on) next.add(at);
      else next.delete(at);
      set(next);
    };
    return (
      <>
        {field.values.map((value, at) => (
          <label class="choice" key={at}>
            <input type="checkbox" name={id} checked={picked.has(at)} aria-labelledby={`${id}-pick-${at}`} onChange={(event) => toggle(at, event.currentTarget.checked)} />
            <ChoiceText value={value} id={`${id}-pick-${at}`} />
          </label>
        ))}
      </>
    );
  }
  const options: [string, Json | null][] = field.kind === "boolean" ? [["true", true], ["false", false]] : field.values.map((value, at) => [String(at), value]);
  const one = (value: string, content: Json | null) => (
    <label class="choice" key={value}>
      <input type="radio" name={id} value={value} checked={draft === value} aria-labelledby={`${id}-pick-${value}`} onChange={() => set(value)} />
      {content === null ? <span id={`${id}-pick-${value}`}>{t("fill.none")}</span> : field.kind === "boolean" ? <span id={`${id}-pick-${value}`}>{t(content ? "fill.yes" : "fill.no")}</span> : <ChoiceText value={content} id={`${id}-pick-${value}`} />}
    </label>
  );
  return (
    <div class="picks">
      {options.map(([value, content]) => one(value, content))}
      {field.kind === "enum" && !field.required ? one("", null) : null}
    </div>
  );
}

function ChoiceText({ value, id }: { value: Json; id: string }) {
  return (
    <span class="choice-text" id={id}>
      <ForeignLabel text={typeof value === "string" ? value : JSON.stringify(value)} />
    </span>
  );
}
