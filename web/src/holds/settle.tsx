// A call was started and its end was not seen. Only a person who looked can say what happened; nothing is preselected.

import { useState } from "preact/hooks";
import { t } from "../i18n";
import type { JsonObject } from "../wire";
import type { AnswerProps } from "./answer";
import { Panel } from "./panel";

const WAYS = ["succeeded", "failed", "retry"] as const;

export function SettleAnswer({ hold, answering, stale }: AnswerProps) {
  const [way, setWay] = useState<(typeof WAYS)[number] | null>(null);
  const [content, setContent] = useState("");
  const [missing, setMissing] = useState(false);
  const submit = () => {
    if (way === null) return setMissing(true);
    const answer: JsonObject = { settle: way };
    if (content.trim() !== "") answer["content"] = content;
    answering.send(answer);
  };
  return (
    <>
      <p class="explain">{t("settle.note")}</p>
      <Panel off={answering.busy || stale} submit={submit} label={t("answer.submit")}>
        <fieldset class="choices">
          <legend>{t("settle.legend")}</legend>
          {WAYS.map((one) => (
            <label class="choice" key={one}>
              <input
                type="radio"
                name={`settle-${hold.id}`}
                value={one}
                checked={way === one}
                onChange={() => {
                  setWay(one);
                  setMissing(false);
                }}
              />
              <span>
                {t(`settle.${one}`)}
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
      </Panel>
    </>
  );
}
