// After the decision: what was decided and by whom, on top of the card, and the way to the next one.

import { Icon } from "../icons";
import { t } from "../i18n";
import { useLive } from "../live";
import { go, holdPath } from "../route";
import { useKey } from "../keys";
import { clock, full } from "../time";
import { nameOf, useMe, waitsForMe } from "../who";
import type { Hold } from "../wire";
import { lower, verbOf } from "./headline";
import { settledText } from "./state";

export function DoneBanner({ hold, elsewhere }: { hold: Hold; elsewhere: boolean }) {
  const me = useMe();
  const decision = hold.decision;
  const at = decision?.at ?? hold.cancelled?.at;
  return (
    <div class={`done state-${hold.state}`} data-settled={hold.state} tabIndex={-1}>
      <Icon name={hold.state} />
      <div>
        <strong>{settledText(hold, me)}</strong>
        {decision?.via && decision.by ? <span> · {t("settled.via", { via: decision.via })}</span> : null}
        {elsewhere ? (
          <p>
            {t("done.elsewhere")}. {t("done.not_sent")}
          </p>
        ) : null}
        {decision?.by === me.id && hold.state === "approved" && decision.digest === hold.digest ? <p>{t("done.digest")}</p> : null}
      </div>
      {at ? <time class="sr" dateTime={at}>{`${nameOf(decision, me) ?? ""} ${clock(at)} ${full(at)}`}</time> : null}
    </div>
  );
}

/** The way on. Only words of ours: the next hold is named by its verb. */
export function NextBar({ hold, keys }: { hold: Hold; keys: boolean }) {
  const live = useLive();
  const me = useMe();
  const waiting = live.all().filter((one) => one.id !== hold.id && waitsForMe(one, me));
  const soonest = [...waiting].sort((a, b) => (a.expires_at ?? "9").localeCompare(b.expires_at ?? "9"))[0];
  const on = soonest ? () => go(holdPath(soonest.id)) : null;
  useKey("n", keys ? on : null);
  return (
    <section class="bar bar-done" aria-label={t("done.inbox")}>
      <div class="bar-in">
        {soonest && on ? (
          <button type="button" class="primary next" onClick={on}>
            {t("done.next", { verb: lower(verbOf(soonest)) })}
          </button>
        ) : null}
        <a class="button" href="/">
          {t("done.inbox")}
        </a>
        <span class="bar-note">{waiting.length > 0 ? t("done.left", { n: waiting.length }) : t("done.nothing_left")}</span>
      </div>
    </section>
  );
}
