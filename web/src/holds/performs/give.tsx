// The form in which a result is given: whatever the page read or a person chose is shown before it goes to the agent.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Quoted } from "../../foreign";
import { t } from "../../i18n";
import type { AnswerProps } from "../answer";
import { AnswerForm } from "../panel";
import { QuestionBar } from "../question_bar";

export interface WayProps extends AnswerProps {
  /** Leads to the other way: by hand, or back to the page. */
  otherWay: ComponentChildren;
}

interface Props extends WayProps {
  note: string;
  /** What is sent; null as long as there is nothing to send. */
  content: string | null;
  /** Said when the button is pressed too early. */
  missing: string;
  /** Shown before it is sent, where the field itself does not show it. */
  preview?: boolean;
  failed?: boolean;
  children: ComponentChildren;
}

export function Give({ note, content, missing, preview = false, failed = false, children, otherWay, ...props }: Props) {
  const [early, setEarly] = useState(false);
  const id = `perform-${props.hold.id}`;
  const submit = () => {
    if (content === null || content.trim() === "") return setEarly(true);
    props.answering.send({ perform: { content, is_error: failed } });
  };
  const wrong = early && (content === null || content.trim() === "");
  return (
    <>
      <AnswerForm id={id} off={props.answering.busy} submit={submit}>
        <p class="note">{note}</p>
        {children}
        {preview && content !== null ? (
          <div class="given" data-given>
            <b>{t("perform.preview")}</b>
            <Quoted text={content} />
          </div>
        ) : null}
        {wrong ? (
          <p class="field-error" role="alert">
            {missing}
          </p>
        ) : null}
        {otherWay}
      </AnswerForm>
      <QuestionBar {...props} form={id} label={t("perform.submit")} note={wrong ? <span class="unread">{missing}</span> : undefined} />
    </>
  );
}
