// What was decided, by whom and with which result, newest first, searched by the server.

import { useEffect, useRef, useState } from "preact/hooks";
import * as api from "../api";
import { Pill, type Tone } from "../components";
import { Icon } from "../icons";
import { t } from "../i18n";
import { live } from "../live";
import { holdPath } from "../route";
import { dayName } from "../time";
import { settledText } from "../holds/state";
import { useKey } from "../keys";
import { useMe } from "../who";
import type { Hold, HoldState } from "../wire";
import { RowHeadline } from "./headline";
import { useLinesInView } from "./lines";

type DecidedLine = { is: "section"; key: string; day: string; count: number } | { is: "row"; key: string; hold: Hold };

interface Past {
  text: string;
  holds: Hold[];
  next: string | null;
  state: "reading" | "read" | "failed";
}

export function History({ text, current, query, desk }: { text: string; current: string | null; query: string; desk: boolean }) {
  const [past, setPast] = useState<Past>({ text, holds: [], next: null, state: "reading" });
  const asked = useRef(0);
  const read = (from: Past | null) => {
    const mine = ++asked.current;
    const base: Past = from ?? { text, holds: [], next: null, state: "reading" };
    setPast({ ...base, state: "reading" });
    api.pastHolds(text, from?.next ?? null).then(
      (list) => {
        if (mine !== asked.current) return;
        for (const hold of list.items) live.put(hold, false);
        const known = new Set(base.holds.map((hold) => hold.id));
        setPast({ text, holds: [...base.holds, ...list.items.filter((hold) => !known.has(hold.id))], next: list.next, state: "read" });
      },
      () => mine === asked.current && setPast({ ...base, state: "failed" }),
    );
  };
  useEffect(() => {
    read(null);
    return () => {
      asked.current++;
    };
  }, [text]);
  useEffect(() => {
    // A decision made elsewhere belongs on top.
    const stop = live.watchEvents((event) => {
      if (event.type === "hold.decided") read(null);
    });
    return stop;
  }, [text]);

  const lines = byDay(past.holds);
  const { list, drawn, show } = useLinesInView(lines, desk);
  const move = (step: 1 | -1) => {
    const stops = lines.flatMap((line, place) => (line.is === "row" ? [{ id: line.hold.id, place }] : []));
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset["item"] : undefined;
    const from = stops.findIndex((stop) => stop.id === (focused ?? current));
    const stop = stops[from < 0 ? 0 : Math.min(stops.length - 1, Math.max(0, from + step))];
    if (!stop) return;
    show(stop.place);
    requestAnimationFrame(() => list.current?.querySelector<HTMLElement>(`[data-item="${CSS.escape(stop.id)}"]`)?.focus());
  };
  useKey("j", () => move(1));
  useKey("k", () => move(-1));
  const lastSeen = drawn.to >= lines.length;
  useEffect(() => {
    if (lastSeen && past.state === "read" && past.next !== null) read(past);
  }, [lastSeen, past.state, past.next]);

  if (past.holds.length === 0) {
    if (past.state === "reading") return <p class="loading late">{t("history.loading")}</p>;
    return <p class="empty-list muted">{t(past.state === "failed" ? "history.failed" : text === "" ? "history.empty" : "inbox.none_match")}</p>;
  }
  return (
    <ul ref={list} class="rows" data-lines={lines.length}>
      {drawn.above > 0 ? <li class="rows-gap" aria-hidden="true" style={{ height: `${drawn.above}px` }} /> : null}
      {lines.slice(drawn.from, drawn.to).map((line) =>
        line.is === "section" ? (
          <li key={line.key} class="section-head">
            <h2>{line.day}</h2>
            <span class="num">{line.count}</span>
          </li>
        ) : (
          <PastRow key={line.key} hold={line.hold} current={line.hold.id === current} query={query} />
        ),
      )}
      {drawn.below > 0 ? <li class="rows-gap" aria-hidden="true" style={{ height: `${drawn.below}px` }} /> : null}
    </ul>
  );
}

const TONES: Record<HoldState, Tone> = { pending: "hold", approved: "ok", denied: "no", answered: "brand", expired: "plain", cancelled: "plain" };

function PastRow({ hold, current, query }: { hold: Hold; current: boolean; query: string }) {
  const me = useMe();
  const outcome = hold.outcome?.state;
  return (
    <li class={current ? "row row-current" : "row"}>
      <span class="row-mark">
        <Icon name={hold.state} />
      </span>
      <a class={`row-link state-${hold.state}`} href={`${holdPath(hold.id)}${query}`} data-item={hold.id} data-waits="false" aria-current={current ? "true" : undefined}>
        <span class="row-title">
          <RowHeadline hold={hold} />
        </span>
        <span class="row-meta">
          <span>{settledText(hold, me)}</span>
          {outcome ? <span>· {t(`outcome.${outcome}`)}</span> : null}
        </span>
      </a>
      <span class="row-end">
        <Pill tone={TONES[hold.state]}>{t(`state.${hold.state}`)}</Pill>
      </span>
    </li>
  );
}

function byDay(holds: Hold[]): DecidedLine[] {
  const days = new Map<string, Hold[]>();
  for (const hold of holds) {
    const day = dayName(hold.decision?.at ?? hold.cancelled?.at ?? hold.opened_at);
    days.set(day, [...(days.get(day) ?? []), hold]);
  }
  return [...days].flatMap(([day, inside]): DecidedLine[] => [
    { is: "section", key: `day ${day}`, day, count: inside.length },
    ...inside.map((hold): DecidedLine => ({ is: "row", key: hold.id, hold })),
  ]);
}
