// Nothing waits: what was decided today, and in a demo where to see an agent stop.

import { useEffect, useState } from "preact/hooks";
import * as api from "../api";
import { Icon } from "../icons";
import { t } from "../i18n";
import { useLive } from "../live";
import { useMe } from "../who";
import type { Hold } from "../wire";

export function Empty({ filtered }: { filtered: boolean }) {
  const me = useMe();
  return (
    <div class="empty-list" data-testid="empty">
      <Icon name="approved" />
      <b>{t(filtered ? "inbox.none_match" : "inbox.empty")}</b>
      {filtered ? <a href="/">{t("inbox.clear")}</a> : <Today />}
      {!filtered && (me.demo ?? []).length > 0 ? (
        <a class="button primary" href="/start">
          {t("inbox.try")}
        </a>
      ) : null}
    </div>
  );
}

interface Figures {
  approved: number;
  denied: number;
  expired: number;
  /** There were more today than were read. */
  more: boolean;
}

/** Today's decisions, as far as one page tells; a plus says that there were more. */
function Today() {
  const live = useLive();
  const [figures, setFigures] = useState<Figures | null>(null);
  useEffect(() => {
    let over = false;
    api.pastHolds("", null).then(
      (list) => {
        if (over) return;
        const today = list.items.filter(isToday);
        const count = (state: Hold["state"]) => today.filter((hold) => hold.state === state).length;
        setFigures({ approved: count("approved"), denied: count("denied"), expired: count("expired"), more: list.next !== null && today.length === list.items.length });
      },
      () => {},
    );
    return () => {
      over = true;
    };
  }, [live.listed]);
  if (figures === null) return null;
  const shown = (n: number) => (figures.more ? `${n}+` : String(n));
  return (
    <dl class="today">
      {(["approved", "denied", "expired"] as const).map((state) => (
        <div key={state}>
          <dt>{t(`today.${state}`)}</dt>
          <dd class="num" data-today={state}>
            {shown(figures[state])}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function isToday(hold: Hold): boolean {
  const at = hold.decision?.at ?? (hold.state === "expired" ? hold.expires_at : null);
  return at !== null && at !== undefined && new Date(at).toDateString() === new Date().toDateString();
}
