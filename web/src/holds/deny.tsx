// No, with a reason that the model is told, and, where a run waits, with or without an end to it.

import { useDraft } from "../drafts";
import { t } from "../i18n";
import { asksToGoOn, type JsonObject } from "../wire";
import type { AnswerProps } from "./answer";
import { Panel } from "./panel";

export function DenyPanel({ hold, answering, back }: AnswerProps & { back: () => void }) {
  const [reason, setReason] = useDraft(hold.id, "reason");
  const deny = (stop: boolean) => {
    const answer: JsonObject = { verdict: "deny" };
    if (reason.trim() !== "") answer["reason"] = reason.trim();
    if (stop) answer["stop"] = true;
    answering.send(answer);
  };
  // Without leave to go on a run ends in any case, and the model hears nothing of it.
  const goOn = asksToGoOn(hold);
  const question = hold.kind !== "approve";
  const stop = hold.run && !goOn ? (
    <button type="button" class="danger" onClick={() => deny(true)}>
      {t("deny.stop")}
    </button>
  ) : null;
  return (
    <Panel off={answering.busy} back={back} submit={() => deny(false)} label={t(goOn ? "deny.go_on.submit" : question ? "decline.submit" : "deny.submit")} danger more={stop}>
      <label class="field">
        <span>{t(goOn ? "deny.go_on.reason" : "deny.reason")}</span>
        <textarea name="reason" rows={2} value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
      </label>
    </Panel>
  );
}
