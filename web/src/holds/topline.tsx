// How bad, what kind, which one, and how long is left.

import { RiskTag, TimeLeft } from "../components";
import { t, word } from "../i18n";
import type { Hold } from "../wire";
import { StateBadge } from "./state";

export function Topline({ hold }: { hold: Hold }) {
  // Answering a question runs nothing, so that its risk is worth a word only when somebody raised it.
  const question = hold.kind === "choose" || hold.kind === "fill";
  const quiet = question && (hold.risk === "low" || hold.risk === "medium");
  return (
    <p class="topline">
      {quiet ? null : <RiskTag risk={hold.risk} />}
      <span class={`topline-kind kind-${hold.kind}`}>{question ? t(`card.kind.${hold.kind as "choose" | "fill"}`) : word("hold.kind", hold.kind)}</span>
      <span class="mono">{hold.tag}</span>
      <span class="topline-end">{hold.state === "pending" ? <TimeLeft hold={hold} /> : <StateBadge hold={hold} />}</span>
    </p>
  );
}
