// How long is left: a ring that empties, and the time in words. Red in the last five minutes.

import { useEffect } from "preact/hooks";
import { t } from "../i18n";
import { live } from "../live";
import { full, span, useNow } from "../time";
import type { Hold } from "../wire";

export const SOON_MS = 5 * 60_000;
const AROUND = 2 * Math.PI * 7;

interface Props {
  hold: Hold;
  /** "ring" on a card, "short" in a row: there "4:12" stands for "4 min 12 s left". */
  as?: "ring" | "short";
}

export function TimeLeft({ hold, as = "ring" }: Props) {
  const until = hold.expires_at ? Date.parse(hold.expires_at) : Number.NaN;
  const runs = hold.state === "pending" && !Number.isNaN(until);
  // Minutes do not need a second hand.
  const now = useNow(runs, as === "short" && until - Date.now() > 2 * SOON_MS ? 20_000 : 1000);
  const left = until - now;
  const due = runs && left <= 0;
  useEffect(() => {
    // The server decides when it is over; this only looks soon, should the event not reach us.
    if (due) void live.read(hold.id);
  }, [due]);
  if (!hold.expires_at || Number.isNaN(until)) return as === "short" ? null : <span class="left">{t("hold.expires.never")}</span>;
  const soon = left < SOON_MS ? " soon" : "";
  const words = due ? t("hold.expires.due") : t("hold.expires.left", { left: span(left) });
  if (as === "short") {
    return (
      <time class={`left-short${soon}`} dateTime={hold.expires_at}>
        <span aria-hidden="true">{due ? t("hold.expires.due") : short(left)}</span>
        <span class="sr">{words}</span>
      </time>
    );
  }
  const whole = until - Date.parse(hold.opened_at);
  const part = whole > 0 ? Math.min(1, Math.max(0, left / whole)) : 0;
  return (
    <time class={`left${soon}`} dateTime={hold.expires_at} title={full(hold.expires_at)}>
      <svg viewBox="0 0 18 18" width="18" height="18" aria-hidden="true" focusable="false">
        <circle class="ring-back" cx="9" cy="9" r="7" />
        <circle class="ring" cx="9" cy="9" r="7" stroke-dasharray={`${(part * AROUND).toFixed(1)} ${AROUND.toFixed(1)}`} transform="rotate(-90 9 9)" />
      </svg>
      {words}
    </time>
  );
}

/** "1:38" in the last five minutes, then "22 min", "3 h", "2 d". */
function short(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (ms < SOON_MS) return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  // One unit is enough to sort by eye.
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return span(minutes * 60_000);
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? t("time.hours", { n: hours }) : t("time.days", { n: Math.floor(hours / 24) });
}
