// The controls that fit the hold's kind, or a word why there are none.

import { t } from "../i18n";
import { hasVoted, isAddressed, useMe } from "../who";
import type { Hold } from "../wire";
import type { Answering } from "./answering";
import { ApproveAnswer } from "./approve";
import { ChooseAnswer } from "./choose";
import { FillAnswer } from "./fill";
import { PerformAnswer } from "./perform";
import { SettleAnswer } from "./settle";

export interface AnswerProps {
  /** The hold as it is shown; its digest is what an answer names. */
  hold: Hold;
  answering: Answering;
  /** What is shown is no longer what would run. */
  stale: boolean;
}

export function AnswerControls(props: AnswerProps) {
  const me = useMe();
  const { hold } = props;
  if (hasVoted(hold, me)) return <p class="note">{t("answer.voted")}</p>;
  const controls = (
    <section class="answer" aria-label={t("answer.title")}>
      <Kind {...props} />
    </section>
  );
  if (isAddressed(hold, me)) return controls;
  // The server judges who may answer, and may know more than the audience says; so the way stays open, behind a word of doubt.
  return (
    <>
      <p class="note">{t("answer.not_yours")}</p>
      <details class="facts-more">
        <summary>{t("answer.anyway")}</summary>
        {controls}
      </details>
    </>
  );
}

function Kind(props: AnswerProps) {
  switch (props.hold.kind) {
    case "approve":
      return <ApproveAnswer {...props} />;
    case "choose":
      return <ChooseAnswer {...props} />;
    case "fill":
      return <FillAnswer {...props} />;
    case "perform":
      return <PerformAnswer {...props} />;
    case "settle":
      return <SettleAnswer {...props} />;
  }
}
