// One or several of the stored options, and own words where the hold allows them. Nothing is preselected. Keys 1 to 9 pick.

import { useState } from "preact/hooks";
import { Kbd } from "../components";
import { useDraft } from "../drafts";
import { Quoted } from "../foreign";
import { optionLabel, t } from "../i18n";
import { useKey } from "../keys";
import type { AnswerProps } from "./answer";
import { AnswerForm } from "./panel";
import { QuestionBar } from "./question_bar";

const KEYS_MOST = 9;

export function ChooseAnswer(props: AnswerProps) {
  const { hold, answering, keys, calm } = props;
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [otherOn, setOtherOn] = useState(false);
  const [other, setOther] = useDraft(hold.id, "other");
  const [empty, setEmpty] = useState(false);
  const many = hold.multiple === true;
  const type = many ? "checkbox" : "radio";
  const id = `choose-${hold.id}`;
  const options = hold.options ?? [];

  const pick = (one: string, on: boolean) => {
    const next = new Set(many ? chosen : []);
    if (on) next.add(one);
    else next.delete(one);
    setChosen(next);
    if (!many) setOtherOn(false);
    setEmpty(false);
  };
  const pickOther = (on: boolean) => {
    setOtherOn(on);
    if (!many && on) setChosen(new Set());
    setEmpty(false);
  };
  const submit = () => {
    // In the order of the options, so that the same choice is always the same answer.
    const choose = options.map((option) => option.id).filter((one) => chosen.has(one));
    if (otherOn && other.trim() !== "") choose.push(other.trim());
    if (choose.length === 0) return setEmpty(true);
    answering.send({ choose });
  };
  return (
    <>
      {options.slice(0, KEYS_MOST).map((option, at) => (
        <PickKey key={option.id} digit={`${at + 1}`} act={keys && calm ? () => pick(option.id, !chosen.has(option.id)) : null} />
      ))}
      <AnswerForm id={id} off={answering.busy} submit={submit}>
        <fieldset class="choices">
          <legend>{many ? t("choose.many") : t("choose.one")}</legend>
          {options.map((option, at) => (
            <label class={chosen.has(option.id) ? "choice choice-card choice-on" : "choice choice-card"} key={option.id}>
              <input type={type} name={id} value={option.id} checked={chosen.has(option.id)} aria-labelledby={`${id}-${at}`} onChange={(event) => pick(option.id, event.currentTarget.checked)} />
              <span class="choice-text" id={`${id}-${at}`}>
                <Quoted text={optionLabel(option)} prose whole />
                {option.description ? <Quoted text={option.description} prose whole /> : null}
              </span>
              {keys && at < KEYS_MOST ? <Kbd>{at + 1}</Kbd> : null}
            </label>
          ))}
          {hold.allow_other ? (
            <label class="choice choice-card choice-own">
              <input type={type} name={id} checked={otherOn} onChange={(event) => pickOther(event.currentTarget.checked)} />
              <span>{t("choose.other")}</span>
            </label>
          ) : null}
          {hold.allow_other && otherOn ? (
            <label class="field indent">
              <span>{t("choose.other.label")}</span>
              <input name="other" value={other} onInput={(event) => setOther(event.currentTarget.value)} />
            </label>
          ) : null}
        </fieldset>
        {empty ? (
          <p class="field-error" role="alert">
            {t("choose.nothing")}
          </p>
        ) : null}
      </AnswerForm>
      <QuestionBar {...props} form={id} note={empty ? <span class="unread">{t("choose.nothing")}</span> : undefined} />
    </>
  );
}

function PickKey({ digit, act }: { digit: string; act: (() => void) | null }) {
  useKey(digit, act);
  return null;
}
