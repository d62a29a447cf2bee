// No, with a reason that the model is told, and, where a run waits, with or without an end to it.

import { useState } from "preact/hooks";
import { t } from "../i18n";
import { asksToGoOn, type JsonObject } from "../wire";
import type { AnswerProps } from "./answer";
import { Panel } from "./panel";

export function DenyPanel({ hold, answering, stale, back }: AnswerProps & { back: () => void }) {
  const [reason, setReason] = useState("");
  const deny = (stop: boolean) => {
    const answer: JsonObject = { verdict: "deny" };
    if (reason.trim() !== "") answer["reason"] = reason.trim();
    if (stop) answer["stop"] = true;
    answering.send(answer);
  };
  // Without leave to go on a run ends in any case, and the model hears nothing of it.
  const goOn = asksToGoOn(hold);
  const stop = hold.run && !goOn ? (
    <button type="button" class="danger" onClick={() => deny(true)}>
      {t("deny.stop")}
    </button>
  ) : null;
  return (
    <Panel off={answering.busy || stale} back={back} submit={() => deny(false)} label={t(goOn ? "deny.go_on.submit" : "deny.submit")} danger more={stop}>
      <label class="field">
        <span>{t(goOn ? "deny.go_on.reason" : "deny.reason")}</span>
        <textarea name="reason" rows={2} value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
      </label>
    </Panel>
  );
}

/** For the kinds whose main answer is not a verdict: one quiet button that opens the panel. */
export function DenyToggle(props: AnswerProps) {
  const [open, setOpen] = useState(false);
  return (
    <div class="deny-toggle">
      <button type="button" class="danger" disabled={props.answering.busy || props.stale} aria-expanded={open} onClick={() => setOpen(!open)}>
        {t("deny.open")}
      </button>
      {open ? <DenyPanel {...props} back={() => setOpen(false)} /> : null}
    </div>
  );
}
