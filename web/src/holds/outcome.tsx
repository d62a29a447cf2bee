// What became of an approved call. Unknown is a state of its own, and never drawn as a failure.

import { Icon } from "../icons";
import { t } from "../i18n";
import { live } from "../live";
import { Chip } from "../foreign";
import { Value } from "../plain";
import { holdPath } from "../route";
import { useMe } from "../who";
import type { Hold } from "../wire";
import { titleOf } from "./parts";
import { settledText } from "./state";

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
  // Also after it is settled: an outcome that a person reported is not one that the tool did.
  const settling = live.all().find((other) => other.parent === hold.id && other.kind === "settle");
  return (
    <div class={`outcome outcome-${outcome.state}`} data-outcome={outcome.state}>
      <p>
        <Icon name={outcome.state} />
        <span>
          {t("outcome.title")}: <strong>{t(`outcome.${outcome.state}`)}</strong>
        </span>
      </p>
      {settling ? <SettlingLink settling={settling} /> : null}
      {withResult && outcome.result !== undefined && outcome.result !== null ? <Value value={outcome.result} /> : null}
    </div>
  );
}

function SettlingLink({ settling }: { settling: Hold }) {
  const me = useMe();
  return (
    <p>
      <a href={holdPath(settling.id)}>
        <Chip text={titleOf(settling)} />
      </a>
      {settling.state === "pending" ? null : <> · {settledText(settling, me)}</>}
    </p>
  );
}
