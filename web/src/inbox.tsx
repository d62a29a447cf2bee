// "Waiting for you": the open holds, newest first, with those that settled while you looked.

import { Icon } from "./icons";
import { t, word } from "./i18n";
import { useLive } from "./live";
import { Chip } from "./foreign";
import { Plain } from "./plain";
import { holdPath } from "./route";
import { Expiry } from "./holds/facts";
import { titleOf } from "./holds/parts";
import { RiskBadge, settledText } from "./holds/state";
import { hasVoted, isAddressed, useMe } from "./who";
import type { Hold } from "./wire";

// Settled ones are a courtesy to someone who just looked away, not a history.
const SETTLED_SHOWN = 5;

export function Inbox({ current }: { current: string | null }) {
  const live = useLive();
  const me = useMe();
  const holds = live.all();
  const pending = holds.filter((hold) => hold.state === "pending");
  const mine = pending.filter((hold) => isAddressed(hold, me) && !hasVoted(hold, me));
  const others = pending.filter((hold) => !mine.includes(hold));
  const settled = holds.filter((hold) => hold.state !== "pending" && live.seenPending.has(hold.id)).slice(0, SETTLED_SHOWN);
  return (
    <nav class="inbox" aria-label={t("inbox.title")}>
      <h2>
        {t("inbox.title")} <span class="count">{counted(mine.length, live.next)}</span>
      </h2>
      {mine.length === 0 ? <p class="muted">{live.listed ? t("inbox.empty") : t("app.loading")}</p> : <Items holds={mine} current={current} />}
      {live.next === null ? null : (
        <button type="button" class="quiet" onClick={() => void live.readMore()}>
          {t("inbox.more")}
        </button>
      )}
      {others.length > 0 ? (
        <>
          <h3>{t("inbox.others")}</h3>
          <Items holds={others} current={current} />
        </>
      ) : null}
      {settled.length > 0 ? (
        <>
          <h3>{t("inbox.settled")}</h3>
          <Items holds={settled} current={current} />
        </>
      ) : null}
      {pending.length > 0 ? <p class="muted keys">{t("inbox.keys")}</p> : null}
    </nav>
  );
}

/** With a plus where the server has more than was read. */
export function counted(waiting: number, next: string | null): string {
  return next === null ? String(waiting) : `${waiting}+`;
}

function Items({ holds, current }: { holds: Hold[]; current: string | null }) {
  return (
    <ul class="items">
      {holds.map((hold) => (
        <li key={hold.id}>
          <a class={`item state-${hold.state}`} href={holdPath(hold.id)} data-item={hold.id} data-waits={hold.state === "pending"} aria-current={hold.id === current ? "page" : undefined}>
            <Icon name={hold.state} />
            <span class="item-text">
              <span class="item-title">
                <Chip text={titleOf(hold)} />
              </span>
              <span class="item-line">
                <Line hold={hold} />
              </span>
            </span>
          </a>
        </li>
      ))}
    </ul>
  );
}

function Line({ hold }: { hold: Hold }) {
  const me = useMe();
  if (hold.state !== "pending") return <>{settledText(hold, me)}</>;
  return (
    <>
      <span>{word("hold.kind", hold.kind)}</span>
      {hold.agent ? (
        <span>
          <Plain text={hold.agent} />
        </span>
      ) : null}
      {hold.risk === "medium" || hold.risk === "low" ? null : <RiskBadge risk={hold.risk} />}
      <Expiry hold={hold} brief />
    </>
  );
}
