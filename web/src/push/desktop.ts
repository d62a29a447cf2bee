// While the page stands open and hidden: a word from the browser about what waits for this person, and once more before it expires.

import { SOON_MS } from "../components";
import { headlineOf, verbText } from "../holds/headline";
import { t } from "../i18n";
import { live } from "../live";
import { go, holdPath } from "../route";
import { waitsForMe } from "../who";
import type { Hold, Me } from "../wire";
import { badge, desktopOn, pushedHere } from "./push";

const LOOK_MS = 15_000;

/** Until the returned function is called. */
export function notify(me: Me): () => void {
  const told = new Map<string, "asks" | "soon">();
  const shown = new Map<string, Notification>();
  let first = true;
  const look = () => {
    const waiting = live.all().filter((hold) => waitsForMe(hold, me));
    badge(waiting.length);
    const ids = new Set(waiting.map((hold) => hold.id));
    for (const [id, one] of shown) {
      // Settled elsewhere, or looked at here.
      if (ids.has(id) && document.hidden) continue;
      one.close();
      shown.delete(id);
    }
    for (const hold of waiting) {
      const soon = hold.expires_at !== null && hold.expires_at !== undefined && Date.parse(hold.expires_at) - Date.now() < SOON_MS;
      const kind = soon ? "soon" : "asks";
      const before = told.get(hold.id);
      if (before === kind || before === "soon") continue;
      told.set(hold.id, kind);
      // What a push service brings is told once.
      if (first || !document.hidden || !desktopOn() || pushedHere() !== null) continue;
      shown.set(hold.id, show(hold, soon));
    }
    if (live.listed) first = false;
  };
  look();
  const unwatch = live.watch(look);
  const timer = setInterval(look, LOOK_MS);
  document.addEventListener("visibilitychange", look);
  return () => {
    unwatch();
    clearInterval(timer);
    document.removeEventListener("visibilitychange", look);
    for (const one of shown.values()) one.close();
    // Whoever comes next is not told how much waits for somebody else.
    badge(0);
  };
}

/** Our words alone: it stands on a screen that others may see. */
function show(hold: Hold, soon: boolean): Notification {
  const one = new Notification(`${hold.tag} · ${verbText(headlineOf(hold))}`, { body: t(soon ? "push.soon" : "push.asks"), tag: hold.id, icon: "/icon-192.png" });
  one.onclick = () => {
    focus();
    go(holdPath(hold.id));
    one.close();
  };
  return one;
}
