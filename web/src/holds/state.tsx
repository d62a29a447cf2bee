// How a hold stands, in one badge and one sentence. The six states never look alike: shape, word, border and colour all differ.

import { Icon } from "../icons";
import { t } from "../i18n";
import { clock } from "../time";
import { nameOf } from "../who";
import type { Hold, Me } from "../wire";

export function StateBadge({ hold }: { hold: Hold }) {
  return (
    <span class={`badge state-${hold.state}`}>
      <Icon name={hold.state} />
      {t(`state.${hold.state}`)}
    </span>
  );
}

/** "Approved by Ana, 14:02". */
export function settledText(hold: Hold, me: Me): string {
  const stands = hold.decision ?? hold.cancelled;
  // Programs cancel, too. What the runtime does says so by naming nobody.
  const withdrawer = hold.cancelled?.by === "runtime" ? null : hold.cancelled?.by;
  const name = hold.decision ? nameOf(hold.decision, me) : withdrawer;
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
