// A call was started and its end was not seen. The evidence comes first; only a person who looked can say what happened, and nothing
// is preselected.

import { useState } from "preact/hooks";
import { useDraft } from "../drafts";
import { t, word } from "../i18n";
import { useHold } from "../live";
import { nameOf, useMe } from "../who";
import type { Hold, JsonObject } from "../wire";
import type { AnswerProps } from "./answer";
import { Moment } from "./facts";
import { AnswerForm } from "./panel";
import { QuestionBar } from "./question_bar";

const WAYS = ["succeeded", "failed", "retry"] as const;

export function SettleAnswer(props: AnswerProps) {
  const { hold, answering } = props;
  const [way, setWay] = useState<(typeof WAYS)[number] | null>(null);
  const [content, setContent] = useDraft(hold.id, "content");
  const [missing, setMissing] = useState(false);
  const id = `settle-${hold.id}`;
  const submit = () => {
    if (way === null) return setMissing(true);
    const answer: JsonObject = { settle: way };
    if (content.trim() !== "") answer["content"] = content;
    answering.send(answer);
  };
  return (
    <>
      <AnswerForm id={id} off={answering.busy} submit={submit}>
        <p class="note">{t("settle.note")}</p>
        <Evidence hold={hold} />
        <fieldset class="choices">
          <legend>{t("settle.legend")}</legend>
          {WAYS.map((one) => (
            <label class={way === one ? "choice choice-card choice-ours choice-on" : "choice choice-card choice-ours"} key={one}>
              <input
                type="radio"
                name={id}
                value={one}
                checked={way === one}
                onChange={() => {
                  setWay(one);
                  setMissing(false);
                }}
              />
              <span>
                <b>{t(`settle.${one}`)}</b>
                <small>{t(`settle.${one}.note`)}</small>
              </span>
            </label>
          ))}
        </fieldset>
        <label class="field">
          <span>{t("settle.content")}</span>
          <textarea name="content" rows={3} value={content} onInput={(event) => setContent(event.currentTarget.value)} />
        </label>
        {missing ? (
          <p class="field-error" role="alert">
            {t("settle.nothing")}
          </p>
        ) : null}
      </AnswerForm>
      <QuestionBar {...props} form={id} label={way === null ? t("settle.record.none") : t("settle.record", { what: t(`settle.${way}`) })} final />
    </>
  );
}

/** What is known: who allowed it, how it may be repeated, and since when nothing was heard. */
function Evidence({ hold }: { hold: Hold }) {
  return (
    <section class="sec" aria-label={t("settle.evidence")}>
      <h2>{t("settle.evidence")}</h2>
      <ol class="timeline">
        {hold.parent ? <Approval id={hold.parent} /> : null}
        <li class="step-now">
          <b>{t("settle.evidence.lost")}</b> {hold.call?.effects ? t("settle.evidence.effects", { effects: word("card.effects", hold.call.effects) }) : null}
        </li>
        <li>
          {t("settle.evidence.asked")} <Moment at={hold.opened_at} />
        </li>
      </ol>
    </section>
  );
}

function Approval({ id }: { id: string }) {
  const me = useMe();
  const asked = useHold(id);
  const decision = typeof asked === "string" ? null : asked.decision;
  if (!decision) return null;
  return (
    <li class="step-ok">
      {t("settle.evidence.approved", { name: nameOf(decision, me) ?? "–" })} {decision.at ? <Moment at={decision.at} /> : null}
    </li>
  );
}
