// The controls that fit the hold's kind, or a word why there are none.

import { useContext, useState } from "preact/hooks";
import { showFold } from "../folding";
import { t } from "../i18n";
import { useKey } from "../keys";
import { hasVoted, isAddressed, useMe } from "../who";
import type { Headline, Hold, JsonObject } from "../wire";
import type { Answering } from "./answering";
import { ApproveAnswer } from "./approve";
import { Bar, BeforeBar } from "./bar";
import { ChooseAnswer } from "./choose";
import { DenyPanel } from "./deny";
import { FillAnswer } from "./fill";
import { useUnread } from "./folds";
import { lower, verbOf } from "./headline";
import { useClaim } from "./menu";
import { PerformAnswer } from "./perform";
import { SettleAnswer } from "./settle";
import { cardOf } from "./unread";

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
  const below = useContext(BeforeBar);
  const { claim } = useClaim(hold, now);
  useKey("m", props.keys ? claim : null);
  if (hasVoted(now, me)) {
    return (
      <>
        {below}
        <p class="note voted">{t("answer.voted")}</p>
      </>
    );
  }
  if (stale) return <StaleBar {...props} />;
  if (isAddressed(hold, me)) return <Kind {...props} />;
  // The server judges who may answer, and may know more than the audience says; so the way stays open, behind a word of doubt.
  return (
    <>
      {below}
      <p class="note not-yours">{t("answer.not_yours")}</p>
      <details class="record anyway">
        <summary>{t("answer.anyway")}</summary>
        <BeforeBar.Provider value={null}>
          <Kind {...props} keys={false} />
        </BeforeBar.Provider>
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

/** Whatever way an answer comes, by a button or a key: nothing is said yes to before all of it was opened. */
function Kind(given: AnswerProps) {
  const { hold, answering } = given;
  const unread = useUnread(hold);
  const send: Answering["send"] = (answer, digest) => (unread && mustBeRead(hold, answer) ? showFold(cardOf(hold.id)) : answering.send(answer, digest));
  const props = { ...given, answering: { ...answering, send } };
  switch (hold.kind) {
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

/** A denial, a reply in place of the call and a plain no wait for nothing. */
function mustBeRead(hold: Hold, answer: JsonObject): boolean {
  if (hold.kind === "approve") return answer["verdict"] === "approve";
  const done = answer["perform"];
  const isNo = done !== null && typeof done === "object" && !Array.isArray(done) && done["content"] === "no";
  return answer["verdict"] !== "deny" && !isNo;
}
