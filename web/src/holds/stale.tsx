// The call changed while it was read. The old one stays in view, what changed is shown, and nothing can be approved before the new
// one was read.

import { useMemo } from "preact/hooks";
import { bytesOf } from "../foreign_spans";
import { Icon } from "../icons";
import { t } from "../i18n";
import type { Hold } from "../wire";
import { aroundChanges, compare } from "./compare";
import { Difference } from "./difference";

export function StaleNote({ read, now, refused }: { read: Hold; now: Hold; refused: string | null }) {
  const rows = useMemo(() => aroundChanges(compare(textOf(read), textOf(now))), [read, now]);
  return (
    <>
      <div class="warning warning-bad warning-ours stale" role="alert" data-code={refused ?? undefined}>
        <Icon name="warning" />
        <span>
          <b>{t("stale.title")}{t("card.stop")}</b> {refused ? t("stale.refused") : null} {t("stale.text")}
        </span>
      </div>
      <section class="sec" aria-label={t("stale.diff")} data-stale-diff>
        <h2>{t("stale.diff")}</h2>
        <Difference label={t("stale.diff.short")} by="holdpoint" rows={rows} fold="stale" bytes={bytesOf(rows.map((row) => row.line))} />
      </section>
    </>
  );
}

/** The server's plain text of all that is asked, whose lines carry their own marks. */
function textOf(hold: Hold): string {
  return hold.view?.text ?? JSON.stringify(hold.call?.arguments ?? null, null, 2);
}
