// After a decision: what came of it in one line, and for someone who goes through the list, the next hold that waits.

import { useEffect, useRef } from "preact/hooks";
import * as api from "../api";
import { toast } from "../components";
import { settledText } from "../holds/state";
import { t } from "../i18n";
import { live } from "../live";
import { cameThroughList, go, holdPath, routeOf } from "../route";
import { useMe, waitsForMe } from "../who";
import type { Hold, Me } from "../wire";
import { holdOfLine, type Line } from "./lines";

export function useNextAfterAnswer(lines: Line[], query: string): void {
  const me = useMe();
  // The order as it was while the hold still waited: the next one is the one that stood below it.
  const order = useRef<Line[]>([]);
  const before = useRef<Line[]>([]);
  if (lines !== order.current) {
    before.current = order.current;
    order.current = lines;
  }
  useEffect(() => {
    api.whenAnswered((hold) => {
      tell(hold, me);
      const route = routeOf(location.pathname);
      const open = route.at === "hold" ? route.id : null;
      // Only those who work through the list are led on; a link from a chat ends at the result.
      if (open !== null && (open !== hold.id || !cameThroughList())) return;
      if (open === null && route.at !== "inbox") return;
      const next = after(hold.id, [order.current, before.current].map(idsOf), me);
      if (next !== null) go(holdPath(next) + query, { through: "list" });
    });
    return () => api.whenAnswered(() => {});
  }, [me, query]);
}

const idsOf = (lines: Line[]): string[] => lines.flatMap((line) => (line.is === "row" && line.open ? [] : (holdOfLine(line) ?? [])));

function after(id: string, orders: string[][], me: Me): string | null {
  const waits = (one: string) => {
    const hold = live.known(one);
    return one !== id && typeof hold !== "string" && waitsForMe(hold, me);
  };
  const order = orders.find((one) => one.includes(id)) ?? live.all().map((hold) => hold.id);
  const at = order.indexOf(id);
  return order.slice(at + 1).find(waits) ?? order.slice(0, Math.max(at, 0)).find(waits) ?? null;
}

// How long a result is worth a word of its own; later it stands on the card and in the history.
const FOLLOWED_MS = 8000;

/** Says what was decided, and again when the call has ended. Words of ours only: the hold is named by its tag. */
function tell(hold: Hold, me: Me): void {
  say(hold, me);
  if (hold.state !== "approved") return;
  let last = hold.outcome?.state;
  const stop = live.watch(() => {
    const now = live.known(hold.id);
    if (typeof now === "string" || now.outcome?.state === last) return;
    last = now.outcome?.state;
    if (last && last !== "executing") say(now, me);
  });
  setTimeout(stop, FOLLOWED_MS);
}

function say(hold: Hold, me: Me): void {
  const outcome = hold.outcome?.state;
  const ended = outcome && outcome !== "executing" ? t(`outcome.${outcome}`) : "";
  const open = hold.state === "pending";
  const text = `${hold.tag}: ${open ? t("answer.voted") : settledText(hold, me)}`;
  const icon = outcome === "failed" || outcome === "unknown" ? outcome : hold.state;
  // That it is decided is announced for every hold, whoever decided it and wherever.
  const spoken = open ? text : ended && `${hold.tag}: ${ended}`;
  toast({ icon, text: ended ? `${text} · ${ended}` : text, spoken, href: holdPath(hold.id), link: t("toast.show") });
}
