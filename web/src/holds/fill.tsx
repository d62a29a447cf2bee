// A form drawn from the hold's stored schema, or one text area when it has none.

import { useEffect, useState } from "preact/hooks";
import { t } from "../i18n";
import type { JsonObject } from "../wire";
import type { AnswerProps } from "./answer";
import { DenyToggle } from "./deny";
import { FieldView } from "./field";
import { Panel } from "./panel";
import { emptyDraft, fieldsOf, isObject, namedField, read, readJson, type Draft, type Field } from "./schema";

export function FillAnswer(props: AnswerProps) {
  const { schema } = props.hold;
  const fields = schema ? fieldsOf(schema) : null;
  return (
    <>
      {fields ? <FieldsForm {...props} fields={fields} /> : <TextForm {...props} json={schema !== null && schema !== undefined} />}
      <DenyToggle {...props} />
    </>
  );
}

function FieldsForm({ hold, answering, stale, fields }: AnswerProps & { fields: Field[] }) {
  const [drafts, setDrafts] = useState<Record<string, Draft>>({});
  const [errors, setErrors] = useState<Record<string, string>>({});

  useEffect(() => {
    const refused = answering.refused;
    const name = refused?.code === "answer_invalid" ? namedField(fields, refused.body.field) : null;
    if (refused && name !== null) setErrors({ [name]: refused.message });
  }, [answering.refused]);

  const submit = () => {
    const fill: JsonObject = {};
    const wrong: Record<string, string> = {};
    for (const field of fields) {
      const got = read(field, drafts[field.name] ?? emptyDraft(field));
      if ("error" in got) wrong[field.name] = got.error;
      else if (got.value !== undefined) fill[field.name] = got.value;
    }
    setErrors(wrong);
    if (Object.keys(wrong).length === 0) answering.send({ fill });
  };

  return (
    <Panel off={answering.busy || stale} submit={submit} label={t("answer.submit")}>
      {fields.map((field) => (
        <FieldView
          key={field.name}
          field={field}
          id={`fill-${hold.id}-${field.name}`}
          draft={drafts[field.name] ?? emptyDraft(field)}
          set={(draft) => {
            setDrafts({ ...drafts, [field.name]: draft });
            // What was wrong with the old value may not be wrong with the new one.
            const { [field.name]: _, ...others } = errors;
            setErrors(others);
          }}
          error={errors[field.name] ?? null}
        />
      ))}
    </Panel>
  );
}

/** Without a schema one text; with one that names no properties, the whole object as JSON. */
function TextForm({ answering, stale, json }: AnswerProps & { json: boolean }) {
  const [text, setText] = useState("");
  const [error, setError] = useState<string | null>(null);
  const submit = () => {
    if (text.trim() === "") return setError(t("fill.missing"));
    if (!json) return answering.send({ fill: { text } });
    const got = readJson(text);
    if ("error" in got) return setError(got.error);
    if (!isObject(got.value)) return setError(t("fill.not_json", { error: "{ … }" }));
    answering.send({ fill: got.value });
  };
  return (
    <Panel off={answering.busy || stale} submit={submit} label={t("answer.submit")}>
      <label class="field">
        <span>
          {t("fill.text")} {json ? <small class="muted">{t("fill.json")}</small> : null}
        </span>
        <textarea name="text" rows={4} class={json ? "code" : undefined} value={text} aria-invalid={error !== null} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      {error ? (
        <p class="field-error" role="alert">
          {error}
        </p>
      ) : null}
    </Panel>
  );
}
