// A call that a person carries out: what came of it, and whether it failed.

import { useState } from "preact/hooks";
import { t } from "../i18n";
import type { AnswerProps } from "./answer";
import { DenyToggle } from "./deny";
import { Panel } from "./panel";

export function PerformAnswer(props: AnswerProps) {
  const { answering, stale } = props;
  const [content, setContent] = useState("");
  const [failed, setFailed] = useState(false);
  const [missing, setMissing] = useState(false);
  const submit = () => {
    if (content.trim() === "") return setMissing(true);
    answering.send({ perform: { content, is_error: failed } });
  };
  return (
    <>
      <p>{t("perform.note")}</p>
      <Panel off={answering.busy || stale} submit={submit} label={t("perform.submit")}>
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
      </Panel>
      <DenyToggle {...props} />
    </>
  );
}
