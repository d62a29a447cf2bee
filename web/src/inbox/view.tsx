// `/`, `/history` and `/holds/{id}`: what waits, what was decided, and one of them open beside the list. A phone shows one at a time.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Kbd } from "../components";
import { HoldPage } from "../holds/page";
import { Icon } from "../icons";
import { t, type Key } from "../i18n";
import { useDesk } from "../desk";
import { useKey } from "../keys";
import { live as everyHold, useLive } from "../live";
import { go, type Address } from "../route";
import { SNOOZE_MS, useSnoozes } from "../snoozes";
import { counted, useMe, waitsForMe } from "../who";
import { BulkBar, BulkSheet, isBulkable, type BulkVerdict } from "./bulk";
import { Empty } from "./empty";
import { askerOf, filterOf, queryOf } from "./filter";
import { ListHead } from "./head";
import { History } from "./history";
import { linesOf, holdOfLine, type Line } from "./lines";
import { List } from "./list";
import { useNextAfterAnswer } from "./next";
import { nextChange, prepareOrder, sectionsOf, toldOf } from "./sections";
import type { Hold } from "../wire";

everyHold.prepare(prepareOrder);

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
  const snoozed = useSnoozes();
  const now = useSectionClock(snoozed);
  const filter = filterOf(query);
  const address = queryOf(filter);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const sections = useMemo(() => sectionsOf(live.all(), filter, me, now, (id) => snoozed.of(id, now) !== null), [live.revision, address, me, now, snoozed.revision]);
  const lines = useMemo(() => linesOf(sections, open), [sections, open]);
  const waiting = useMemo(() => live.all().filter((hold) => waitsForMe(hold, me)), [live.revision, me]);
  const askers = useMemo(() => [...new Set(live.all().flatMap((hold) => (hold.state === "pending" ? (askerOf(hold) ?? []) : [])))].sort(), [live.revision]);

  // A desk has room for the most urgent one. It stays until another is opened: what is being read is not swapped for a newer one.
  const first = useRef<string | null>(null);
  if (first.current === null && live.listed && tab === "inbox") first.current = lines.map(holdOfLine).find((id) => id !== null) ?? null;
  const current = opened ?? (desk ? first.current : null);

  useEffect(() => {
    // It may stand in the pane already, as the most urgent one; opening it still means to read it.
    if (opened !== null) document.querySelector<HTMLElement>(".pane .hold-title")?.focus();
  }, [opened]);
  useNextAfterAnswer(lines, address);
  useKey("Escape", selected.size > 0 ? () => setSelected(new Set()) : opened === null ? null : () => go(`/${address}`));
  useKey("z", current === null ? null : () => void toggleSnooze(current, snoozed));
  const toggle = (group: string) => {
    const after = new Set(open);
    after.has(group) ? after.delete(group) : after.add(group);
    setOpen(after);
  };
  const filtered = address !== "";
  const narrowed = queryOf({ ...filter, sort: "urgency" }) !== "";
  const [bulk, setBulk] = useState<{ verdict: BulkVerdict; holds: Hold[] } | null>(null);
  // A hold that was decided meanwhile is no longer part of the selection.
  const chosen = [...selected].flatMap((id) => {
    const hold = live.known(id);
    return typeof hold !== "string" && isBulkable(hold, me) ? [hold] : [];
  });
  return (
    <div class="inbox">
      <section class="list" aria-label={t(tab === "inbox" ? "inbox.title" : "nav.history")}>
        <ListHead tab={tab} filter={filter} askers={askers} waiting={live.listed || waiting.length > 0 ? counted(waiting.length, live) : ""} />
        <div class="list-scroll">
          {tab === "history" ? <History text={filter.text} current={current} query="" desk={desk} /> : lines.length === 0 ? live.listed ? <Empty filtered={filtered} /> : <Loading /> : null}
          {tab === "history" ? null : <List
            lines={lines}
            current={current}
            query={address}
            desk={desk}
            next={live.next}
            count={(section) => counted(section.count, live, (all) => (narrowed ? null : toldOf(section.name, all)))}
            more={() => void live.readMore()}
            selected={new Set(chosen.map((hold) => hold.id))}
            selectable={(hold) => isBulkable(hold, me)}
            setSelected={setSelected}
            toggle={toggle}
          />}
        </div>
        {chosen.length > 0 ? (
          <BulkBar count={chosen.length} off={live.offline} review={(verdict) => setBulk({ verdict, holds: chosen })} clear={() => setSelected(new Set())} />
        ) : null}
        {tab === "inbox" && desk ? <Hints /> : null}
      </section>
      {desk ? <Pane current={current} nothing={tab === "inbox" && live.listed && lines.length === 0} /> : null}
      {bulk ? <BulkSheet verdict={bulk.verdict} holds={bulk.holds} close={() => { setBulk(null); setSelected(new Set()); }} /> : null}
    </div>
  );
}

function Hints() {
  const hints: [string[], Key][] = [[["j", "k"], "hint.move"], [["x"], "hint.select"], [["a", "↵"], "hint.approve"], [["d"], "hint.deny"], [["?"], "hint.keys"]];
  return (
    <p class="hints" aria-hidden="true">
      {hints.map(([keys, name]) => (
        <span key={name}>
          {keys.map((key) => (
            <Kbd key={key}>{key}</Kbd>
          ))}
          {t(name)}
        </span>
      ))}
    </p>
  );
}

function Pane({ current, nothing }: { current: string | null; nothing: boolean }) {
  const live = useLive();
  return (
    <section class="pane" aria-label={t("inbox.pane")} tabIndex={0}>
      {current === null ? (
        live.listed ? <p class="pane-empty muted">{t(nothing ? "inbox.pane.nothing" : "inbox.pane.empty")}</p> : null
      ) : (
        <fieldset class="pane-card" disabled={live.offline}>
          {live.offline ? <p class="note offline-note">{t("inbox.offline")}</p> : null}
          <HoldPage key={current} id={current} />
        </fieldset>
      )}
    </section>
  );
}

/** An hour without it, or see it again now. */
async function toggleSnooze(id: string, snoozed: ReturnType<typeof useSnoozes>): Promise<void> {
  if (snoozed.of(id, Date.now()) !== null) await snoozed.end(id);
  else await snoozed.snooze(id, new Date(Date.now() + SNOOZE_MS));
}

const NO_LINES: Line[] = [];

/** A hold on a phone: nothing but the card, and the way back. */
function CardPage({ id }: { id: string }) {
  const live = useLive();
  const me = useMe();
  const all = live.all().filter((hold) => waitsForMe(hold, me));
  const here = all.some((hold) => hold.id === id) ? 1 : 0;
  const waiting = all.length - here;
  useNextAfterAnswer(NO_LINES, "");
  useKey("Escape", () => go("/"));
  return (
    <>
      <nav class="phonebar" aria-label={t("nav.label")}>
        <a href="/">
          <Icon name="left" />
          {t("nav.back")}
        </a>
        {waiting > 0 ? <span class="pill pill-hold">{t("inbox.more_waiting", { n: counted(waiting, live, ({ mine }) => mine - here) })}</span> : null}
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
function useSectionClock(snoozed: ReturnType<typeof useSnoozes>): number {
  const live = useLive();
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const at = Math.min(nextChange(live.all(), Date.now()), snoozed.nextEnd(Date.now()));
    if (at === Number.POSITIVE_INFINITY) return;
    // A timer of more than 24 days would fire at once.
    const timer = setTimeout(() => setNow(Date.now()), Math.min(at - Date.now() + 50, 86_400_000));
    return () => clearTimeout(timer);
  }, [live.revision, snoozed.revision, now]);
  return now;
}
