// What became of an approved call. Unknown is a state of its own, and never drawn as a failure.

import { Icon } from "../icons";
import { t } from "../i18n";
import { live } from "../live";
import { Value } from "../plain";
import { holdPath } from "../route";
import type { Hold } from "../wire";

/** In a session the tool's result stands right below, so it is not drawn twice. */
export function OutcomeView({ hold, withResult }: { hold: Hold; withResult: boolean }) {
  if (hold.state !== "approved") return null;
  const outcome = hold.outcome;
  if (!outcome) {
    return (
      <p class="outcome outcome-none">
        <Icon name="pending" />
        <span>
          {t("outcome.title")}: {hold.session ? t("outcome.none") : t("outcome.unreported")}
        </span>
      </p>
    );
  }
  const settling = outcome.state === "unknown" ? live.all().find((other) => other.parent === hold.id && other.kind === "settle") : undefined;
  return (
    <div class={`outcome outcome-${outcome.state}`} data-outcome={outcome.state}>
      <p>
        <Icon name={outcome.state} />
        <span>
          {t("outcome.title")}: <strong>{t(`outcome.${outcome.state}`)}</strong>
        </span>
      </p>
      {settling ? <a href={holdPath(settling.id)}>{settling.title}</a> : null}
      {withResult && outcome.result !== undefined && outcome.result !== null ? <Value value={outcome.result} /> : null}
    </div>
  );
}
