// One field of a form, drawn by its kind. A wrong value is told right beside it.

import { t } from "../i18n";
import { Plain } from "../plain";
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
  const grouped = field.kind === "many" || field.kind === "boolean";
  const told = [field.description ? `${id}-about` : "", error ? `${id}-error` : ""].filter(Boolean).join(" ") || undefined;
  const head = (
    <>
      <Plain text={field.title} />{" "}
      <small class="muted">
        {field.required ? t("fill.required") : t("fill.optional")}
        {field.kind === "json" ? `, ${t("fill.json")}` : ""}
      </small>
    </>
  );
  const about = (
    <>
      {field.description ? (
        <small class="about" id={`${id}-about`}>
          <Plain text={field.description} />
        </small>
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
        <small class="suggested">
          <Plain text={t("fill.default", { value: suggestion(field.suggested) })} />{" "}
          <button type="button" class="link" onClick={() => set(draftOf(field, field.suggested ?? null))}>
            {t("fill.default.use")}
          </button>
        </small>
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
        <select {...common} onChange={typed}>
          <option value="">{t("fill.none")}</option>
          {field.values.map((value, at) => (
            <option key={at} value={String(at)}>
              {typeof value === "string" ? value : JSON.stringify(value)}
            </option>
          ))}
        </select>
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
              <span>
                <Plain text={typeof value === "string" ? value : JSON.stringify(value)} />
              </span>
            </label>
          ))}
        </>
      );
    }
    default:
      return field.dated ? <input {...common} type="date" onInput={typed} /> : <input {...common} autocomplete="off" onInput={typed} />;
  }
}

function suggestion(value: Json): string {
  if (typeof value === "boolean") return value ? t("fill.yes") : t("fill.no");
  return JSON.stringify(value);
}
