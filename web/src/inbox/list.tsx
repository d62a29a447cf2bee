// The lines of the inbox, and the keys that go through them.

import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../i18n";
import { useKey } from "../keys";
import { holdOfLine, useLinesInView, type Line } from "./lines";
import { AlikeRow, Row } from "./row";
import type { Section } from "./sections";
import type { Hold } from "../wire";

interface Props {
  lines: Line[];
  current: string | null;
  query: string;
  desk: boolean;
  /** There is more on the server than was read. */
  next: string | null;
  more: () => void;
  count: (section: Section) => string;
  selected: ReadonlySet<string>;
  /** Whether it may be decided together with others. */
  selectable: (hold: Hold) => boolean;
  setSelected: (ids: ReadonlySet<string>) => void;
  toggle: (group: string) => void;
}

export function List({ lines, current, query, desk, next, more, count, selected, selectable, setSelected, toggle }: Props) {
  const { list, drawn, show } = useLinesInView(lines, desk);
  const wanted = useRef<string | null>(null);
  const [, redraw] = useState(0);

  const move = (step: 1 | -1) => {
    const stops = lines.flatMap((line, place) => (line.is === "section" || (line.is === "row" && line.open) ? [] : [{ id: holdOfLine(line), place }]));
    if (stops.length === 0) return;
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset["item"] : undefined;
    const from = stops.findIndex((stop) => stop.id === (focused ?? current));
    const to = from < 0 ? (step > 0 ? 0 : stops.length - 1) : Math.min(stops.length - 1, Math.max(0, from + step));
    const stop = stops[to];
    if (!stop) return;
    show(stop.place);
    wanted.current = stop.id;
    redraw((n) => n + 1);
    focusItem(list, stop.id);
  };
  useEffect(() => {
    // A line that was far away is drawn only after the list was scrolled to it.
    if (wanted.current !== null && focusItem(list, wanted.current)) wanted.current = null;
  });
  useEffect(() => {
    // Opened by a link or by *Next*: its line may be far down.
    const place = lines.findIndex((line) => holdOfLine(line) === current);
    if (!desk || place < 0) return;
    show(place);
    list.current?.querySelector(`[data-item="${CSS.escape(current ?? "")}"]`)?.scrollIntoView({ block: "nearest" });
  }, [current, lines.length === 0]);
  useKey("j", () => move(1));
  useKey("k", () => move(-1));

  const isSelectable = (line: Line) => line.is !== "section" && selectable(line.is === "row" ? line.group.lead : line.hold);
  const groupOf = (id: string): string[] => {
    const line = lines.find((one) => one.is === "row" && one.group.alike.some((hold) => hold.id === id));
    return line?.is === "row" ? line.group.alike.filter(selectable).map((hold) => hold.id) : [id];
  };
  const select = (id: string, whole: boolean) => {
    const ids = whole ? groupOf(id) : [id];
    const on = !ids.every((one) => selected.has(one));
    const after = new Set(selected);
    for (const one of ids) on ? after.add(one) : after.delete(one);
    setSelected(after);
  };
  const here = () => (document.activeElement instanceof HTMLElement ? document.activeElement.dataset["item"] : undefined) ?? current;
  const pick = (whole: boolean) => {
    const id = here();
    const line = lines.find((one) => holdOfLine(one) === id);
    if (id && line && isSelectable(line)) select(id, whole || (line.is === "row" && !line.open));
  };
  useKey("x", () => pick(false));
  useKey("Shift+x", () => pick(true));

  const lastSeen = drawn.to >= lines.length;
  useEffect(() => {
    if (lastSeen && next !== null && lines.length > 0) more();
  }, [lastSeen, next]);

  return (
    <ul ref={list} class={selected.size > 0 ? "rows selecting" : "rows"} data-lines={lines.length}>
      {drawn.above > 0 ? <li class="rows-gap" aria-hidden="true" style={{ height: `${drawn.above}px` }} /> : null}
      {lines.slice(drawn.from, drawn.to).map((line) => {
        if (line.is === "section") return <SectionHead key={line.key} section={line.section} count={count(line.section)} />;
        const hold = line.is === "row" ? line.group.lead : line.hold;
        const common = { current: hold.id === current, selected: isSelected(line, selected), selectable: isSelectable(line), query, select };
        if (line.is === "alike") return <AlikeRow key={line.key} hold={line.hold} {...common} />;
        return <Row key={line.key} group={line.group} open={line.open} toggle={() => toggle(line.group.key)} {...common} />;
      })}
      {drawn.below > 0 ? <li class="rows-gap" aria-hidden="true" style={{ height: `${drawn.below}px` }} /> : null}
    </ul>
  );
}

function SectionHead({ section, count }: { section: Section; count: string }) {
  const hot = section.name === "soon" || section.name === "critical";
  return (
    <li class={hot ? "section-head hot" : "section-head"} data-section={section.name}>
      <h2>{t(`inbox.section.${section.name}`)}</h2>
      <span class="num count">{count}</span>
    </li>
  );
}

function isSelected(line: Line, selected: ReadonlySet<string>): boolean {
  if (line.is === "section") return false;
  return line.is === "row" ? line.group.alike.every((hold) => selected.has(hold.id)) : selected.has(line.hold.id);
}

function focusItem(list: RefObject<HTMLUListElement | null>, id: string | null): boolean {
  const links = list.current?.querySelectorAll<HTMLElement>(`[data-item="${CSS.escape(id ?? "")}"]`);
  const link = links?.[0];
  if (!link) return false;
  link.focus({ preventScroll: true });
  link.scrollIntoView({ block: "nearest" });
  return true;
}
