// What one can do with a hold beside deciding it: say to others that one is on it, or put it away for a while.

import type { ComponentChildren } from "preact";
import * as api from "../api";
import { toast } from "../components";
import { t } from "../i18n";
import { live } from "../live";
import { SNOOZE_MS, tomorrow, useSnoozes } from "../snoozes";
import { clock } from "../time";
import { useMe } from "../who";
import type { Hold } from "../wire";

interface Props {
  hold: Hold;
  now: Hold;
  close: () => void;
  /** Other ways to answer, before these. */
  children?: ComponentChildren;
}

/** Says to others that one is on it, or no longer is. */
export function useClaim(hold: Hold, now: Hold): { mine: boolean; claim: () => void } {
  const mine = now.claimed_by === useMe().id;
  // Whatever came of it, the truth is on the server.
  const claim = () => void api.claim(hold.id, !mine).then((claimed) => live.put(claimed), () => void live.read(hold.id));
  return { mine, claim };
}

export function HoldMenu({ hold, now, close, children }: Props) {
  const { mine, claim } = useClaim(hold, now);
  const snoozed = useSnoozes();
  const until = snoozed.of(hold.id, Date.now());
  const snooze = (at: Date | null) => {
    close();
    const done = at === null ? snoozed.end(hold.id) : snoozed.snooze(hold.id, at);
    done.then(
      () => toast({ icon: "history", text: at === null ? t("snooze.ended", { tag: hold.tag }) : t("snooze.done", { tag: hold.tag, at: clock(at.toISOString()) }) }),
      () => void snoozed.read(),
    );
  };
  return (
    <div class="more-menu">
      {children}
      <button
        type="button"
        data-claim={!mine}
        onClick={() => {
          close();
          claim();
        }}
      >
        {t(mine ? "claim.off" : "claim.on")}
      </button>
      {until === null ? (
        <>
          <button type="button" data-snooze="hour" onClick={() => snooze(new Date(Date.now() + SNOOZE_MS))}>
            {t("snooze.hour")}
          </button>
          <button type="button" data-snooze="tomorrow" onClick={() => snooze(tomorrow())}>
            {t("snooze.tomorrow")}
          </button>
        </>
      ) : (
        <button type="button" data-snooze="end" onClick={() => snooze(null)}>
          {t("snooze.end", { at: clock(new Date(until).toISOString()) })}
        </button>
      )}
    </div>
  );
}
