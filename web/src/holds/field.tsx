// One field of a form, drawn by its kind. A wrong value is told right beside it. Title, description, choices and suggested value
// are somebody else's words, and have a gutter wherever they stand: a list that the browser draws by itself would have none.

import { Quoted } from "../foreign";
import { t } from "../i18n";
import type { Json } from "../wire";
import { draftOf, type Draft, type Field } from "./schema";

interface Props {
  field: Field;
  /** Unique on the page, since two forms may ask for the same name. */
  id: string;
  draft: Draft;
  set: (draft: Draft) => void;
  error: string | null;
}

export function FieldView({ field, id, draft, set, error }: Props) {
  const grouped = field.kind === "many" || field.kind === "boolean" || field.kind === "enum";
  const told = [field.description ? `${id}-about` : "", error ? `${id}-error` : ""].filter(Boolean).join(" ") || undefined;
  const head = (
    <>
      <Quoted text={field.title} prose />
      <small class="muted">
        {field.required ? t("fill.required") : t("fill.optional")}
        {field.kind === "json" ? `, ${t("fill.json")}` : ""}
      </small>
    </>
  );
  const about = (
    <>
      {field.description ? (
        <div class="about" id={`${id}-about`}>
          <Quoted text={field.description} prose />
        </div>
      ) : null}
      {field.kind === "secret" ? <small class="about">{t("fill.secret")}</small> : null}
    </>
  );
  return (
    <div class="field" data-field={field.name}>
      {grouped ? (
        <fieldset class="choices" aria-describedby={told}>
          <legend>{head}</legend>
          {about}
          <Control field={field} id={id} draft={draft} set={set} error={error} told={told} />
        </fieldset>
      ) : (
        <>
          <label for={id}>{head}</label>
          {about}
          <Control field={field} id={id} draft={draft} set={set} error={error} told={told} />
        </>
      )}
      {field.suggested !== undefined && field.kind !== "secret" ? (
        <div class="suggested">
          <small>{t("fill.default")}</small>
          <Quoted text={suggestion(field.suggested)} />
          <button type="button" class="link" onClick={() => set(draftOf(field, field.suggested ?? null))}>
            {t("fill.default.use")}
          </button>
        </div>
      ) : null}
      {error ? (
        <p class="field-error" role="alert" id={`${id}-error`}>
          {error}
        </p>
      ) : null}
    </div>
  );
}

function Control({ field, id, draft, set, error, told }: Props & { told: string | undefined }) {
  const text = typeof draft === "string" ? draft : "";
  const common = { id, name: field.name, value: text, "aria-invalid": error !== null, "aria-describedby": told, "aria-required": field.required };
  const typed = (event: { currentTarget: { value: string } }) => set(event.currentTarget.value);
  switch (field.kind) {
    case "long":
      return <textarea {...common} rows={4} onInput={typed} />;
    case "json":
      return <textarea {...common} class="code" rows={5} spellcheck={false} onInput={typed} />;
    case "secret":
      return <input {...common} type="password" autocomplete="new-password" spellcheck={false} onInput={typed} />;
    case "number":
    case "integer":
      return <input {...common} inputMode={field.kind === "integer" ? "numeric" : "decimal"} autocomplete="off" onInput={typed} />;
    case "enum":
      return (
        <>
          {field.values.map((value, at) => (
            <label class="choice" key={at}>
              <input type="radio" name={id} value={String(at)} checked={text === String(at)} onChange={() => set(String(at))} />
              <ChoiceText value={value} />
            </label>
          ))}
          {field.required ? null : (
            <label class="choice">
              <input type="radio" name={id} value="" checked={text === ""} onChange={() => set("")} />
              <span>{t("fill.none")}</span>
            </label>
          )}
        </>
      );
    case "boolean":
      return (
        <>
          {(["true", "false"] as const).map((value) => (
            <label class="choice" key={value}>
              <input type="radio" name={id} value={value} checked={text === value} onChange={() => set(value)} />
              <span>{value === "true" ? t("fill.yes") : t("fill.no")}</span>
            </label>
          ))}
        </>
      );
    case "many": {
      const picked = typeof draft === "string" ? new Set<number>() : draft;
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
              <input type="checkbox" name={id} checked={picked.has(at)} onChange={(event) => toggle(at, event.currentTarget.checked)} />
              <ChoiceText value={value} />
            </label>
          ))}
        </>
      );
    }
    default:
      return field.dated ? <input {...common} type="date" onInput={typed} /> : <input {...common} autocomplete="off" onInput={typed} />;
  }
}

function ChoiceText({ value }: { value: Json }) {
  return (
    <span class="choice-text">
      <Quoted text={typeof value === "string" ? value : JSON.stringify(value)} prose />
    </span>
  );
}

function suggestion(value: Json): string {
  if (typeof value === "boolean") return value ? t("fill.yes") : t("fill.no");
  return JSON.stringify(value);
}
