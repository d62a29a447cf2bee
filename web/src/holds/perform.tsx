// A call that a person carries out: what came of it, and whether it failed.

import { useState } from "preact/hooks";
import { t } from "../i18n";
import type { AnswerProps } from "./answer";
import { AnswerForm } from "./panel";
import { QuestionBar } from "./question_bar";

export function PerformAnswer(props: AnswerProps) {
  const { hold, answering } = props;
  const [content, setContent] = useState("");
  const [failed, setFailed] = useState(false);
  const [missing, setMissing] = useState(false);
  const id = `perform-${hold.id}`;
  const submit = () => {
    if (content.trim() === "") return setMissing(true);
    answering.send({ perform: { content, is_error: failed } });
  };
  return (
    <>
      <AnswerForm id={id} off={answering.busy} submit={submit}>
        <p class="note">{t("perform.note")}</p>
        <label class="field">
          <span>{t("perform.content")}</span>
          <textarea name="content" rows={3} value={content} aria-invalid={missing} onInput={(event) => setContent(event.currentTarget.value)} />
        </label>
        {missing ? (
          <p class="field-error" role="alert">
            {t("fill.missing")}
          </p>
        ) : null}
        <label class="choice">
          <input type="checkbox" name="is_error" checked={failed} onChange={(event) => setFailed(event.currentTarget.checked)} />
          <span>{t("perform.error")}</span>
        </label>
      </AnswerForm>
      <QuestionBar {...props} form={id} label={t("perform.submit")} />
    </>
  );
}
