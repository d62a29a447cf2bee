// What became of calls like this one: a square for each, a cross for each denial, and the last reason in its author's words.

import { useEffect, useState } from "preact/hooks";
import * as api from "../api";
import { Chip } from "../foreign";
import { t } from "../i18n";
import type { AskedBefore, AskedCounts, Hold } from "../wire";

// More than this is a number, not a picture.
const SQUARES_MOST = 16;

export function useAskedBefore(hold: Hold): AskedBefore | "loading" | "unknown" {
  const [known, setKnown] = useState<AskedBefore | "loading" | "unknown">("loading");
  useEffect(() => {
    let left = false;
    api.askedBefore(hold.id).then(
      (found) => left || setKnown(found),
      // An older server cannot say; that is no reason to alarm anyone.
      () => left || setKnown("unknown"),
    );
    return () => {
      left = true;
    };
  }, [hold.id]);
  return known;
}

export function Before({ hold }: { hold: Hold }) {
  const known = useAskedBefore(hold);
  if (known === "loading") return <span class="muted">…</span>;
  if (known === "unknown") return <span>{t("card.before.unknown")}</span>;
  const week = known.alike.days_7;
  const month = known.alike.days_30;
  if (month.asked === 0) {
    return (
      <>
        {t("card.before.never")}
        <small>{t("card.before.never.note")}</small>
      </>
    );
  }
  const shown = week.asked > 0 ? week : month;
  const same = week.asked > 0 ? known.same.days_7.asked : known.same.days_30.asked;
  const denial = known.last_denial;
  return (
    <>
      <Squares counts={shown} /> <span class="nb">{t(week.asked > 0 ? "card.before.week" : "card.before.month", { n: `${shown.asked}${known.complete ? "" : "+"}` })}</span>
      <small>
        {shown.open === shown.asked ? t("card.before.open") : shown.approved === shown.asked ? t("card.before.all_approved") : t("card.before.count", { approved: shown.approved, denied: shown.denied })}
        {same > 0 && same < shown.asked ? <>; {t("card.before.same", { n: same })}</> : null}
      </small>
      {denial ? (
        <small>
          {t(denial.reason ? "card.before.denied_by" : "card.before.denied_by.plain", { name: denial.by_name ?? denial.by })} {denial.reason ? <Chip text={denial.reason} /> : null}
        </small>
      ) : null}
    </>
  );
}

function Squares({ counts }: { counts: AskedCounts }) {
  const most = Math.min(counts.asked, SQUARES_MOST);
  // Denials are never left out of the picture: they are what it is looked at for.
  const denied = Math.min(counts.denied, most);
  const kinds = [...Array.from({ length: denied }, () => "denied" as const), ...Array.from({ length: most - denied }, (_, at) => (at < counts.approved ? ("approved" as const) : ("other" as const)))];
  return (
    <svg class="past" width={most * 9} height="10" viewBox={`0 0 ${most * 9} 10`} role="img" aria-label={t("card.before.squares", { n: counts.asked, denied: counts.denied })}>
      {kinds.map((kind, at) => (kind === "denied" ? <path key={at} class="past-denied" d={`M${at * 9 + 1} 2l6 6M${at * 9 + 7} 2l-6 6`} /> : <rect key={at} class={`past-${kind}`} x={at * 9} y="1" width="7" height="8" rx="1.5" />))}
    </svg>
  );
}
