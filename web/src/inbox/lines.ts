// The list as lines of known height, so that of ten thousand only those in view need to be drawn.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Hold } from "../wire";
import type { Group, Section } from "./sections";

export type Line =
  | { is: "section"; key: string; section: Section }
  | { is: "row"; key: string; group: Group; open: boolean }
  | { is: "alike"; key: string; hold: Hold; place: number };

export function linesOf(sections: Section[], open: ReadonlySet<string>): Line[] {
  const lines: Line[] = [];
  for (const section of sections) {
    lines.push({ is: "section", key: `section ${section.name}`, section });
    for (const group of section.groups) {
      const opened = group.alike.length > 1 && open.has(group.key);
      lines.push({ is: "row", key: group.lead.id, group, open: opened });
      if (opened) group.alike.forEach((hold, place) => lines.push({ is: "alike", key: `alike ${hold.id}`, hold, place }));
    }
  }
  return lines;
}

/** The hold that a line opens. */
export function holdOfLine(line: Line): string | null {
  if (line.is === "section") return null;
  return line.is === "row" ? line.group.lead.id : line.hold.id;
}

// In rem, as in inbox.css.
const HEIGHTS = { desk: { section: 1.875, row: 3.75, alike: 2.25 }, phone: { section: 2.125, row: 4.25, alike: 2.75 } } as const;
// Up to here all lines are drawn, and the browser's own search finds them; beyond, only those near the view.
const DRAWN_WHOLE_MOST = 120;
const BEYOND_PX = 600;

interface Window {
  from: number;
  to: number;
  above: number;
  below: number;
}

/** Which lines to draw, and how much empty space stands for the others. */
export function useLinesInView<L extends { is: keyof (typeof HEIGHTS)["desk"] }>(lines: L[], desk: boolean) {
  const list = useRef<HTMLUListElement>(null);
  const [scrolled, setScrolled] = useState({ top: 0, height: 2000 });
  const many = lines.length > DRAWN_WHOLE_MOST;
  useEffect(() => {
    if (!many) return;
    let asked = 0;
    const look = () => {
      asked = 0;
      const at = list.current?.getBoundingClientRect().top ?? 0;
      const box = scroller(list.current)?.getBoundingClientRect();
      const height = box?.height ?? innerHeight;
      // Rounded, so that most scroll events draw nothing anew.
      const top = Math.floor(((box?.top ?? 0) - at) / 200) * 200;
      setScrolled((now) => (now.top === top && now.height === height ? now : { top, height }));
    };
    const soon = () => {
      asked ||= requestAnimationFrame(look);
    };
    look();
    // Scrolling does not bubble, but it can be caught on its way: so one listener serves the pane of a desk and the page of a phone.
    document.addEventListener("scroll", soon, { capture: true, passive: true });
    addEventListener("resize", soon);
    return () => {
      document.removeEventListener("scroll", soon, { capture: true });
      removeEventListener("resize", soon);
      cancelAnimationFrame(asked);
    };
  }, [many, desk]);

  const unit = many ? Number.parseFloat(getComputedStyle(document.documentElement).fontSize) : 16;
  const heights = HEIGHTS[desk ? "desk" : "phone"];
  const heightOf = (line: L) => heights[line.is] * unit;
  const drawn: Window = { from: 0, to: lines.length, above: 0, below: 0 };
  if (many) {
    let at = 0;
    drawn.to = -1;
    lines.forEach((line, place) => {
      const height = heightOf(line);
      if (at + height < scrolled.top - BEYOND_PX) {
        drawn.from = place + 1;
        drawn.above = at + height;
      } else if (drawn.to < 0 && at > scrolled.top + scrolled.height + BEYOND_PX + 200) {
        drawn.to = place;
        drawn.below = -at;
      }
      at += height;
    });
    if (drawn.to < 0) drawn.to = lines.length;
    else drawn.below += at;
  }
  /** Brings a line into view, also one that is not drawn. */
  const show = (place: number) => {
    if (!many) return;
    const box = scroller(list.current);
    const start = lines.slice(0, place).reduce((sum, line) => sum + heightOf(line), 0);
    const offset = (list.current?.getBoundingClientRect().top ?? 0) - (box?.getBoundingClientRect().top ?? 0);
    const height = box?.clientHeight ?? innerHeight;
    const inside = offset + start;
    if (inside < 0 || inside > height - 120) (box ?? document.documentElement).scrollBy({ top: inside - height / 3 });
  };
  return { list, drawn, show };
}

/** What scrolls the list: its own pane on a desk, the page (null) on a phone. */
function scroller(list: HTMLElement | null): HTMLElement | null {
  const pane = list?.closest<HTMLElement>(".list-scroll") ?? null;
  return pane && getComputedStyle(pane).overflowY === "auto" ? pane : null;
}
