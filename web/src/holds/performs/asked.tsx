// Client tools that only need a word of the person: yes or no, a text, one of a list. The labels are somebody else's words.

import { useState } from "preact/hooks";
import { Quoted } from "../../foreign";
import { t } from "../../i18n";
import { Bar } from "../bar";
import { DenyPanel } from "../deny";
import { useUnread } from "../folds";
import { cardOf, UnreadNote } from "../unread";
import { Give, type WayProps } from "./give";
import { picksOf } from "./which";

/** Two buttons, and one press. What is sent are the words that the contract of such tools knows. */
export function ConfirmWay(props: WayProps) {
  const { answering, calm } = props;
  const [denying, setDenying] = useState(false);
  const off = answering.busy || !calm;
  const unread = useUnread(props.hold);
  const settling = calm ? "" : " settling";
  const say = (content: "yes" | "no") => answering.send({ perform: { content, is_error: false } });
  return (
    <>
      <div class="answer-form card-in">
        <p class="note">{t("perform.confirm.note")}</p>
        {props.otherWay}
      </div>
      <Bar note={unread ? <UnreadNote text={t("answer.unread")} within={() => cardOf(props.hold.id)} /> : undefined} above={denying ? <DenyPanel {...props} back={() => setDenying(false)} /> : undefined}>
        {denying ? null : (
          <>
            <button type="button" class={`primary${settling}`} disabled={off || unread} data-perform="yes" onClick={() => say("yes")}>
              {answering.busy ? t("answer.sending") : t("perform.yes")}
            </button>
            <button type="button" class={settling} disabled={off} data-perform="no" onClick={() => say("no")}>
              {t("perform.no")}
            </button>
            <button type="button" class={`danger${settling}`} disabled={off} onClick={() => setDenying(true)}>
              {t("decline.open")}
            </button>
          </>
        )}
      </Bar>
    </>
  );
}

export function InputWay(props: WayProps) {
  const [text, setText] = useState("");
  return (
    <Give {...props} note={t("perform.input.note")} content={text === "" ? null : text} missing={t("fill.missing")}>
      <label class="field">
        <span>{t("perform.input")}</span>
        <textarea name="content" rows={2} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
    </Give>
  );
}

export function SelectWay(props: WayProps) {
  const picks = picksOf(props.hold);
  const [picked, setPicked] = useState<number | null>(null);
  const id = `perform-pick-${props.hold.id}`;
  return (
    <Give {...props} note={t("perform.select.note")} content={picked === null ? null : (picks[picked]?.value ?? null)} missing={t("choose.nothing")}>
      <fieldset class="choices">
        <legend>{t("choose.one")}</legend>
        {picks.map((pick, at) => (
          <label class={picked === at ? "choice choice-card choice-on" : "choice choice-card"} key={at}>
            <input type="radio" name={id} value={at} checked={picked === at} aria-labelledby={`${id}-${at}`} onChange={() => setPicked(at)} />
            <span class="choice-text" id={`${id}-${at}`}>
              <Quoted text={pick.label} prose whole />
            </span>
          </label>
        ))}
      </fieldset>
    </Give>
  );
}
