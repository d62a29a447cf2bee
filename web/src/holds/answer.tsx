// The controls that fit the hold's kind, or a word why there are none.

import { useState } from "preact/hooks";
import { t } from "../i18n";
import { hasVoted, isAddressed, useMe } from "../who";
import type { Headline, Hold, JsonObject } from "../wire";
import type { Answering } from "./answering";
import { ApproveAnswer } from "./approve";
import { Bar } from "./bar";
import { ChooseAnswer } from "./choose";
import { DenyPanel } from "./deny";
import { FillAnswer } from "./fill";
import { lower, verbOf } from "./headline";
import { PerformAnswer } from "./perform";
import { SettleAnswer } from "./settle";

export interface AnswerProps {
  /** The hold as it is shown; its digest is what an answer names. */
  hold: Hold;
  /** As it is on the server. */
  now: Hold;
  answering: Answering;
  /** What is shown is no longer what would run. */
  stale: boolean;
  /** It has been in view for long enough to be decided. */
  calm: boolean;
  /** This card listens to the keyboard. */
  keys: boolean;
  showNew: () => void;
  /** What an edit would do, for the headline. */
  setEdited: (headline: Headline | null) => void;
}

export function AnswerControls(props: AnswerProps) {
  const me = useMe();
  const { hold, now, stale } = props;
  if (hasVoted(now, me)) return <p class="note voted">{t("answer.voted")}</p>;
  if (stale) return <StaleBar {...props} />;
  if (isAddressed(hold, me)) return <Kind {...props} />;
  // The server judges who may answer, and may know more than the audience says; so the way stays open, behind a word of doubt.
  return (
    <>
      <p class="note not-yours">{t("answer.not_yours")}</p>
      <details class="record anyway">
        <summary>{t("answer.anyway")}</summary>
        <Kind {...props} keys={false} />
      </details>
    </>
  );
}

/** Nothing can be approved before the new call was read; a denial never waits, and is of the call as it is now. */
function StaleBar(props: AnswerProps) {
  const { now, answering, calm, showNew } = props;
  const [denying, setDenying] = useState(false);
  const denied = { ...props, hold: now, answering: { ...answering, send: (answer: JsonObject) => answering.send(answer, now.digest) } };
  if (denying) return <Bar above={<DenyPanel {...denied} back={() => setDenying(false)} />} note={t("stale.off")} />;
  return (
    <Bar note={t("stale.off")}>
      <button type="button" class="primary" data-read-new onClick={showNew}>
        {now.headline ? t("stale.read.verb", { verb: lower(verbOf(now)) }) : t("stale.show")}
      </button>
      {now.kind === "settle" ? null : (
        <button type="button" class={`danger${calm ? "" : " settling"}`} disabled={answering.busy || !calm} onClick={() => setDenying(true)}>
          {t("deny.open")}
        </button>
      )}
    </Bar>
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
