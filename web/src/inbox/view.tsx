// `/`, `/history` and `/holds/{id}`: what waits, what was decided, and one of them open beside the list. A phone shows one at a time.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { HoldPage } from "../holds/page";
import { Icon } from "../icons";
import { t } from "../i18n";
import { useDesk } from "../desk";
import { useKey } from "../keys";
import { useLive } from "../live";
import { go, type Address } from "../route";
import { counted, useMe, waitsForMe } from "../who";
import { Empty } from "./empty";
import { askerOf, filterOf, queryOf } from "./filter";
import { ListHead } from "./head";
import { linesOf, holdOfLine } from "./lines";
import { List } from "./list";
import { useNextAfterAnswer } from "./next";
import { nextChange, sectionsOf } from "./sections";

export function HoldsView({ address, frozen }: { address: Address; frozen: boolean }) {
  const { route, query } = address;
  const desk = useDesk();
  const opened = route.at === "hold" ? route.id : null;
  if (!desk && opened !== null) return <CardPage id={opened} />;
  return <ListAndPane key={route.at === "history" ? "history" : "inbox"} tab={route.at === "history" ? "history" : "inbox"} opened={opened} query={query} desk={desk} frozen={frozen} />;
}

interface Props {
  tab: "inbox" | "history";
  opened: string | null;
  query: URLSearchParams;
  desk: boolean;
  frozen: boolean;
}

function ListAndPane({ tab, opened, query, desk }: Props) {
  const live = useLive();
  const me = useMe();
  const now = useSectionClock();
  const filter = filterOf(query);
  const address = queryOf(filter);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const sections = useMemo(() => sectionsOf(live.all(), filter, me, now), [live.revision, address, me, now]);
  const lines = useMemo(() => linesOf(sections, open), [sections, open]);
  const waiting = live.all().filter((hold) => waitsForMe(hold, me));
  const askers = useMemo(() => [...new Set(live.all().flatMap((hold) => (hold.state === "pending" ? (askerOf(hold) ?? []) : [])))].sort(), [live.revision]);

  // A desk has room for the most urgent one. It stays until another is opened: what is being read is not swapped for a newer one.
  const first = useRef<string | null>(null);
  if (first.current === null && live.listed) first.current = lines.map(holdOfLine).find((id) => id !== null) ?? null;
  const current = opened ?? (desk ? first.current : null);

  useNextAfterAnswer(lines, address);
  useKey("Escape", selected.size > 0 ? () => setSelected(new Set()) : opened === null ? null : () => go(`/${address}`));
  const toggle = (group: string) => {
    const after = new Set(open);
    after.has(group) ? after.delete(group) : after.add(group);
    setOpen(after);
  };
  const filtered = address !== "";
  return (
    <div class="inbox">
      <section class="list" aria-label={t(tab === "inbox" ? "inbox.title" : "nav.history")}>
        <ListHead tab={tab} filter={filter} askers={askers} waiting={counted(waiting.length, live.next)} />
        <div class="list-scroll">
          {lines.length === 0 ? live.listed ? <Empty filtered={filtered} /> : <Loading /> : null}
          <List
            lines={lines}
            current={current}
            query={address}
            desk={desk}
            next={live.next}
            more={() => void live.readMore()}
            selected={selected}
            setSelected={setSelected}
            toggle={toggle}
          />
        </div>
      </section>
      {desk ? <Pane current={current} /> : null}
    </div>
  );
}

function Pane({ current }: { current: string | null }) {
  const live = useLive();
  return (
    <section class="pane" aria-label={t("inbox.pane")} tabIndex={-1}>
      {current === null ? (
        <p class="pane-empty muted">{t("inbox.pane.empty")}</p>
      ) : (
        <fieldset class="pane-card" disabled={live.offline}>
          {live.offline ? <p class="note offline-note">{t("inbox.offline")}</p> : null}
          <HoldPage key={current} id={current} />
        </fieldset>
      )}
    </section>
  );
}

/** A hold on a phone: nothing but the card, and the way back. */
function CardPage({ id }: { id: string }) {
  const live = useLive();
  const me = useMe();
  const waiting = live.all().filter((hold) => waitsForMe(hold, me) && hold.id !== id).length;
  useNextAfterAnswer([], "");
  useKey("Escape", () => go("/"));
  return (
    <>
      <nav class="phonebar" aria-label={t("nav.label")}>
        <a href="/">
          <Icon name="left" />
          {t("nav.back")}
        </a>
        {waiting > 0 ? <span class="pill pill-hold">{t("inbox.more_waiting", { n: counted(waiting, live.next) })}</span> : null}
      </nav>
      <fieldset class="pane-card" disabled={live.offline}>
        {live.offline ? <p class="note offline-note">{t("inbox.offline")}</p> : null}
        <HoldPage key={id} id={id} />
      </fieldset>
    </>
  );
}

/** Grey lines in their final size, and only for those who wait long enough to see them. */
function Loading() {
  return (
    <div class="skeleton late" role="status">
      <span class="sr">{t("app.loading")}</span>
      {Array.from({ length: 5 }, (_, at) => (
        <div key={at} class="skeleton-row" />
      ))}
    </div>
  );
}

/** The present, renewed when a hold moves from one section to another. */
function useSectionClock(): number {
  const live = useLive();
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const at = nextChange(live.all(), Date.now());
    if (at === Number.POSITIVE_INFINITY) return;
    // A timer of more than 24 days would fire at once.
    const timer = setTimeout(() => setNow(Date.now()), Math.min(at - Date.now() + 50, 86_400_000));
    return () => clearTimeout(timer);
  }, [live.revision, now]);
  return now;
}
