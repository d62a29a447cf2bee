// Which holds a list shows, and in which order. All of it stands in the address, so that a view can be kept and sent.

import { titleText } from "../holds/parts";
import { waitsForMe } from "../who";
import type { Hold, HoldKind, Me } from "../wire";

export const SORTS = ["urgency", "newest", "oldest"] as const;
export type Sort = (typeof SORTS)[number];

export interface Filter {
  text: string;
  sort: Sort;
  mine: boolean;
  /** Only high and critical ones. */
  grave: boolean;
  asker: string | null;
  kind: HoldKind | null;
}

const KINDS: HoldKind[] = ["approve", "choose", "fill", "perform", "settle"];

export function filterOf(query: URLSearchParams): Filter {
  const sort = SORTS.find((one) => one === query.get("sort")) ?? "urgency";
  const kind = KINDS.find((one) => one === query.get("kind")) ?? null;
  return { text: query.get("q") ?? "", sort, mine: query.get("for") === "me", grave: query.get("risk") === "high", asker: query.get("asker"), kind };
}

/** The same filter as it stands behind the question mark; what is as usual is left out. */
export function queryOf(filter: Filter): string {
  const query = new URLSearchParams();
  if (filter.text !== "") query.set("q", filter.text);
  if (filter.mine) query.set("for", "me");
  if (filter.grave) query.set("risk", "high");
  if (filter.kind) query.set("kind", filter.kind);
  if (filter.asker !== null) query.set("asker", filter.asker);
  if (filter.sort !== "urgency") query.set("sort", filter.sort);
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

/** The program or agent that asks. */
export function askerOf(hold: Hold): string | null {
  return hold.asked_by?.program ?? hold.asked_by?.agent ?? hold.agent;
}

export function shows(filter: Filter, hold: Hold, me: Me): boolean {
  if (filter.mine && !waitsForMe(hold, me)) return false;
  if (filter.grave && hold.risk !== "high" && hold.risk !== "critical") return false;
  if (filter.kind && hold.kind !== filter.kind) return false;
  if (filter.asker !== null && askerOf(hold) !== filter.asker) return false;
  if (filter.text === "") return true;
  const text = said(hold);
  // Every word must occur, in any order. An id is pasted from its beginning: inside of thousands of random ones any short word occurs.
  return filter.text.toLowerCase().split(/\s+/).every((word) => text.includes(word) || hold.id.startsWith(word));
}

// Searching thousands of holds at every letter is quick only when their text is put together once.
const texts = new WeakMap<Hold, string>();

function said(hold: Hold): string {
  const known = texts.get(hold);
  if (known !== undefined) return known;
  const words = [titleText(hold), hold.title, hold.tag, hold.call?.tool, askerOf(hold), hold.requester, hold.rule, hold.kind, hold.risk];
  const text = words.filter(Boolean).join("\n").toLowerCase();
  texts.set(hold, text);
  return text;
}
