// How a hold stands, in one badge and one sentence. The six states never look alike: shape, word, border and colour all differ.

import { Icon } from "../icons";
import { t, word } from "../i18n";
import { clock, full } from "../time";
import { nameOf, useMe } from "../who";
import type { Hold, Me, Risk } from "../wire";

export function StateBadge({ hold }: { hold: Hold }) {
  return (
    <span class={`badge state-${hold.state}`}>
      <Icon name={hold.state} />
      {t(`state.${hold.state}`)}
    </span>
  );
}

export function RiskBadge({ risk }: { risk: Risk }) {
  return (
    <span class={`badge risk-${risk}`}>
      {risk === "high" || risk === "critical" ? <Icon name="warning" /> : null}
      {word("hold.risk", risk)}
    </span>
  );
}

/** "Approved by Ana, 14:02". */
export function settledText(hold: Hold, me: Me): string {
  const stands = hold.decision ?? hold.cancelled;
  const name = nameOf(stands, me);
  const at = clock(stands?.at ?? (hold.state === "expired" ? hold.expires_at : undefined) ?? undefined);
  switch (hold.state) {
    case "pending":
      return t("state.pending");
    case "approved":
      if (name) return t("settled.approved", { name, at });
      return hold.decision?.grant || hold.decision?.via === "grant" ? t("settled.approved.grant", { at }) : t("settled.approved.rule", { at });
    case "denied":
      return name ? t("settled.denied", { name, at }) : t("settled.denied.rule", { at });
    case "answered":
      return t("settled.answered", { name: name ?? "–", at });
    case "expired":
      return t("settled.expired", { at });
    case "cancelled":
      if (!stands?.at) return t("settled.cancelled");
      return name ? t("settled.cancelled.by", { name, at }) : t("settled.cancelled.at", { at });
  }
}

export function SettledLine({ hold }: { hold: Hold }) {
  const me = useMe();
  const decision = hold.decision;
  const at = decision?.at ?? hold.cancelled?.at;
  return (
    <p class={`settled state-${hold.state}`} data-settled={hold.state} tabIndex={-1}>
      <Icon name={hold.state} />
      <span>
        <strong>{settledText(hold, me)}</strong>
        {decision?.via && decision.by ? <span class="muted"> · {t("settled.via", { via: decision.via })}</span> : null}
      </span>
      {at ? <time class="sr" dateTime={at}>{full(at)}</time> : null}
    </p>
  );
}
