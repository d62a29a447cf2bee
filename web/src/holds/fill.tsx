// A form drawn from the hold's stored schema, or one text area when it has none.

import { useEffect, useState } from "preact/hooks";
import { isOpen, mayBeSecret, useDraft } from "../drafts";
import { t } from "../i18n";
import type { JsonObject } from "../wire";
import type { AnswerProps } from "./answer";
import { faultText } from "./fault";
import { FieldView } from "./field";
import { AnswerForm } from "./panel";
import { QuestionBar } from "./question_bar";
import { emptyDraft, faultPath, fieldsOf, isObject, read, readJson, type Draft, type Errors, type Field } from "./schema";

export function FillAnswer(props: AnswerProps) {
  const { schema } = props.hold;
  const fields = schema ? fieldsOf(schema) : null;
  return fields ? <FieldsForm {...props} fields={fields} /> : <TextForm {...props} json={schema !== null && schema !== undefined} />;
}

function FieldsForm(props: AnswerProps & { fields: Field[] }) {
  const { hold, answering, fields } = props;
  const [kept, keep] = useDraft(hold.id, `form-${hold.digest}`);
  const [drafts, setDrafts] = useState<Record<string, Draft>>(() => ({ ...Object.fromEntries(fields.map((field) => [field.name, emptyDraft(field)])), ...unpacked(kept) }));
  const [errors, setErrors] = useState<Errors>({});
  const id = `fill-${hold.id}`;

  useEffect(() => {
    const told = (answering.refused?.body.faults ?? []).flatMap((fault): [string, string][] => {
      const path = faultPath(fields, fault);
      return path === null ? [] : [[path, fault.name === undefined ? faultText(fault) : t("fill.missing")]];
    });
    if (told.length > 0) setErrors(Object.fromEntries(told));
  }, [answering.refused]);

  const submit = () => {
    const fill: JsonObject = {};
    const wrong: Errors = {};
    for (const field of fields) {
      const value = read(field, drafts[field.name] ?? emptyDraft(field), field.name, wrong);
      if (value !== undefined) fill[field.name] = value;
    }
    setErrors(wrong);
    const first = Object.keys(wrong)[0];
    if (first === undefined) answering.send({ fill });
    else document.querySelector<HTMLElement>(`[data-path="${CSS.escape(first)}"] :is(input, textarea, select)`)?.focus();
  };
  const count = Object.keys(errors).length;
  return (
    <>
      <AnswerForm id={id} off={answering.busy} submit={submit}>
        <div class="form-grid">
          {fields.map((field) => (
            <FieldView
              key={field.name}
              field={field}
              id={`${id}-${field.name}`}
              path={field.name}
              draft={drafts[field.name] ?? emptyDraft(field)}
              set={(draft) => {
                const next = { ...drafts, [field.name]: draft };
                setDrafts(next);
                keep(packed(next, hold.schema ?? {}, fields));
                // What was wrong with the old value may not be wrong with the new one.
                setErrors(Object.fromEntries(Object.entries(errors).filter(([path]) => path !== field.name && !path.startsWith(`${field.name}/`))));
              }}
              errors={errors}
            />
          ))}
        </div>
      </AnswerForm>
      <QuestionBar {...props} form={id} note={count === 0 ? undefined : <span class="unread">{count === 1 ? t("fill.fix.one") : t("fill.fix", { n: count })}</span>} />
    </>
  );
}

/** What is kept of a form: nothing of a field that may hold a secret, or a file, of which the page knows no more after a reload. */
function packed(drafts: Record<string, Draft>, schema: JsonObject, fields: Field[]): string {
  const files = new Set(fields.filter(hasFile).map((field) => field.name));
  const open = Object.entries(drafts).filter(([name]) => isOpen(schema, name) && !files.has(name));
  return open.length === 0 ? "" : JSON.stringify(Object.fromEntries(open), (_, value: unknown) => (value instanceof Set ? { picked: [...value] } : value));
}

function hasFile(field: Field): boolean {
  return field.kind === "file" || field.fields.some(hasFile) || (field.item !== null && hasFile(field.item));
}

function unpacked(kept: string): Record<string, Draft> {
  return kept === "" ? {} : JSON.parse(kept, (_, value) => (Array.isArray(value?.picked) ? new Set(value.picked) : value));
}

/** Without a schema one text; with one that names no properties, the whole object as JSON. */
function TextForm(props: AnswerProps & { json: boolean }) {
  const { hold, answering, json } = props;
  const [text, setText] = useDraft(hold.id, "text", mayBeSecret(hold.schema));
  const [error, setError] = useState<string | null>(null);
  const id = `fill-${hold.id}`;
  const submit = () => {
    if (text.trim() === "") return setError(t("fill.missing"));
    if (!json) return answering.send({ fill: { text } });
    const got = readJson(text);
    if ("error" in got) return setError(got.error);
    if (!isObject(got.value)) return setError(t("fill.not_json", { error: "{ … }" }));
    answering.send({ fill: got.value });
  };
  return (
    <>
      <AnswerForm id={id} off={answering.busy} submit={submit}>
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
      </AnswerForm>
      <QuestionBar {...props} form={id} />
    </>
  );
}
