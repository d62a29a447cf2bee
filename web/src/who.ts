// Who is looking at the page, and how people are named on it.

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { t } from "./i18n";
import type { Hold, HoldCounts, Me } from "./wire";

export const Viewer = createContext<Me | null>(null);

export function useMe(): Me {
  const me = useContext(Viewer);
  if (me === null) throw new Error("used outside of a login");
  return me;
}

// Names by id, as far as the server told them. It tells an admin all of them.
let names: ReadonlyMap<string, string> = new Map();

// What the page calls its reader and itself.
const OURS = ["you", "你", "holdpoint", "runtime"];

/** Nobody, where the reader may not know them. */
export function knowNames(people: readonly { id: string; name: string }[]): void {
  names = new Map(people.map(({ id, name }) => [id, name]));
  // Where a name reads like somebody else's, or their id, or a word of ours, only the id says who it is. With the id it may read like
  // a name again, so all are looked at until none is in doubt.
  for (let doubtful = people; doubtful.length > 0; ) {
    const read = people.map(({ id }) => [id, alike(names.get(id) ?? ""), alike(id)]);
    doubtful = people.filter(({ id, name }) => {
      const label = alike(names.get(id) ?? "");
      return names.get(id) === name && (OURS.includes(label) || read.some(([other, ...theirs]) => other !== id && theirs.includes(label)));
    });
    names = new Map([...names, ...doubtful.map(({ id, name }) => [id, `${name} (${id})`] as const)]);
  }
}

const alike = (text: string) => text.normalize("NFKC").trim().toLowerCase();

/** A person's name as the server gave it, else our own, else the id; null when no person did it. */
export function nameOf(said: { by?: string | null; by_name?: string | null } | null | undefined, me: Me): string | null {
  if (!said?.by) return null;
  if (said.by_name) return said.by_name;
  return personName(said.by, me);
}

/** Only for what is always a person's id: a program may bear the id of a person as its name. */
export function personName(id: string, me: Me): string {
  if (id === "runtime") return t("chat.runtime");
  return names.get(id) ?? (id === me.id ? me.name : id);
}

export function hasVoted(hold: Hold, me: Me): boolean {
  // A vote for an earlier digest is void; where the server says which digest a vote was for, we can tell.
  return (hold.answers ?? []).some((said) => said.by === me.id && (said.digest === undefined || said.digest === hold.digest));
}

/** Only for sorting and hints: who may answer is judged by the server when the answer comes. */
export function isAddressed(hold: Hold, me: Me): boolean {
  const { people = [], roles = [], exclude_requester = false } = hold.audience ?? {};
  if (me.kind === "program") return false;
  if (exclude_requester && hold.requester === me.id) return false;
  if (people.length === 0 && roles.length === 0) return true;
  return people.includes(me.id) || roles.some((role) => me.roles.includes(role));
}

// Asked of thousands of holds by several views at each change; a changed hold is another object.
const waits = new WeakMap<Hold, { me: Me; is: boolean }>();

/** A vote of this person is missing. */
export function waitsForMe(hold: Hold, me: Me): boolean {
  let known = waits.get(hold);
  if (known?.me !== me) {
    known = { me, is: hold.state === "pending" && isAddressed(hold, me) && !hasVoted(hold, me) };
    waits.set(hold, known);
  }
  return known.is;
}

/** Only for what is shown: the server judges it. */
export function isAdmin(me: Me): boolean {
  return me.roles.includes("admin") && me.scopes.includes("admin");
}

/** How many wait. Where the server has more than was read it counts them itself; a plus says that there are more than that. */
export function counted(read: number, { next, counts }: { next: string | null; counts: HoldCounts | null }, which: (counts: HoldCounts) => number | null = (all) => all.mine): string {
  if (next === null) return String(read);
  const told = counts === null ? null : which(counts);
  return told === null || counts === null ? `${read}+` : `${told}${counts.exact ? "" : "+"}`;
}
