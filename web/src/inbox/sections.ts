// The order of the inbox: sections by urgency, in a section by time left, and identical calls as one row that can be opened.

import { SOON_MS } from "../components";
import { waitsForMe } from "../who";
import type { Hold, HoldCounts, Me } from "../wire";
import { askerOf, shows, type Filter } from "./filter";

export type SectionName = "soon" | "critical" | "mine" | "others" | "snoozed" | "all";

export interface Section {
  name: SectionName;
  groups: Group[];
  /** How many holds, also those inside of groups. */
  count: number;
}

/** One hold, or several that ask for exactly the same call. The one with the least time left stands for all. */
export interface Group {
  key: string;
  lead: Hold;
  alike: Hold[];
}

const ORDER: SectionName[] = ["soon", "critical", "mine", "others", "snoozed"];

/** Whether the reader does not want to see it now. */
export type IsSnoozed = (id: string) => boolean;

export function sectionsOf(holds: readonly Hold[], filter: Filter, me: Me, now: number, isSnoozed: IsSnoozed = () => false): Section[] {
  const waiting = holds.filter((hold) => hold.state === "pending" && shows(filter, hold, me));
  if (filter.sort !== "urgency") {
    const ordered = filter.sort === "newest" ? waiting : [...waiting].reverse();
    return waiting.length === 0 ? [] : [{ name: "all", groups: grouped(ordered), count: waiting.length }];
  }
  const sorted = waiting.map((hold) => ({ hold, due: dueOf(hold) })).sort((a, b) => a.due - b.due || (a.hold.id < b.hold.id ? -1 : 1));
  const parts = new Map<SectionName, Hold[]>(ORDER.map((name) => [name, []]));
  for (const { hold, due } of sorted) parts.get(isSnoozed(hold.id) && due - now >= SOON_MS ? "snoozed" : sectionOf(hold, due, me, now))?.push(hold);
  return ORDER.map((name) => {
    const inside = parts.get(name) ?? [];
    return { name, groups: grouped(inside), count: inside.length };
  }).filter((section) => section.count > 0);
}

/** How many of a section the server counts. Null where it draws the line elsewhere: it calls a quarter of an hour soon. */
export function toldOf(name: SectionName, counts: HoldCounts): number | null {
  return name === "others" ? counts.sections.others : name === "all" ? counts.open : null;
}

/** When the next hold will belong to another section, so that the list is drawn again then; infinite if never. */
export function nextChange(holds: readonly Hold[], now: number): number {
  let next = Number.POSITIVE_INFINITY;
  for (const hold of holds) {
    const at = hold.state === "pending" ? dueOf(hold) - SOON_MS : Number.NaN;
    if (at > now && at < next) next = at;
  }
  return next;
}

function sectionOf(hold: Hold, due: number, me: Me, now: number): SectionName {
  if (!waitsForMe(hold, me)) return "others";
  if (due - now < SOON_MS) return "soon";
  return hold.risk === "critical" ? "critical" : "mine";
}

/** Works out what the order needs of one hold, to be kept. */
export function prepareOrder(hold: Hold): void {
  dueOf(hold);
  sameness(hold);
}

const dues = new WeakMap<Hold, number>();

function dueOf(hold: Hold): number {
  let due = dues.get(hold);
  if (due === undefined) {
    const parsed = hold.expires_at ? Date.parse(hold.expires_at) : Number.NaN;
    due = Number.isNaN(parsed) ? Number.MAX_SAFE_INTEGER : parsed;
    dues.set(hold, due);
  }
  return due;
}

function grouped(holds: readonly Hold[]): Group[] {
  const groups = new Map<string, Group>();
  for (const hold of holds) {
    const key = sameness(hold);
    const known = groups.get(key);
    if (known) known.alike.push(hold);
    else groups.set(key, { key, lead: hold, alike: [hold] });
  }
  return [...groups.values()];
}

const keys = new WeakMap<Hold, string>();

/** Equal for calls that differ in nothing that a person decides by. A question is never like another. */
function sameness(hold: Hold): string {
  let key = keys.get(hold);
  if (key === undefined) {
    const call = hold.kind === "approve" && hold.call ? (hold.group ?? JSON.stringify([hold.call.tool, hold.call.arguments, askerOf(hold)])) : null;
    key = call === null ? hold.id : JSON.stringify([call, hold.title, hold.risk, hold.rule]);
    keys.set(hold, key);
  }
  return key;
}
