// One or several of the stored options, and own words where the hold allows them. Nothing is preselected.

import { useState } from "preact/hooks";
import { optionLabel, t } from "../i18n";
import { Quoted } from "../foreign";
import type { AnswerProps } from "./answer";
import { DenyToggle } from "./deny";
import { Panel } from "./panel";

export function ChooseAnswer(props: AnswerProps) {
  const { hold, answering, stale } = props;
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [otherOn, setOtherOn] = useState(false);
  const [other, setOther] = useState("");
  const [empty, setEmpty] = useState(false);
  const many = hold.multiple === true;
  const type = many ? "checkbox" : "radio";
  const group = `choose-${hold.id}`;

  const pick = (id: string, on: boolean) => {
    const next = new Set(many ? chosen : []);
    if (on) next.add(id);
    else next.delete(id);
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
    const choose = (hold.options ?? []).map((option) => option.id).filter((id) => chosen.has(id));
    if (otherOn && other.trim() !== "") choose.push(other.trim());
    if (choose.length === 0) return setEmpty(true);
    answering.send({ choose });
  };

  return (
    <>
      <Panel off={answering.busy || stale} submit={submit} label={t("answer.submit")}>
        <fieldset class="choices">
          <legend>{many ? t("choose.many") : t("choose.one")}</legend>
          {(hold.options ?? []).map((option) => (
            <label class="choice" key={option.id}>
              <input type={type} name={group} value={option.id} checked={chosen.has(option.id)} onChange={(event) => pick(option.id, event.currentTarget.checked)} />
              <span class="choice-text">
                <Quoted text={optionLabel(option)} prose />
                {option.description ? <Quoted text={option.description} prose /> : null}
              </span>
            </label>
          ))}
          {hold.allow_other ? (
            <label class="choice">
              <input type={type} name={group} checked={otherOn} onChange={(event) => pickOther(event.currentTarget.checked)} />
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
      </Panel>
      <DenyToggle {...props} />
    </>
  );
}
