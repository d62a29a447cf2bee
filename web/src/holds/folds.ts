// What of a card is folded. Its parts are drawn by the same rules, so that an approval waits for every text that is folded, wherever
// it lies, and for none that is not there to be opened. A denial never waits.

import { useContext } from "preact/hooks";
import { FoldsOf, isLong } from "../folding";
import { foreignOf } from "../foreign_spans";
import type { ForeignText, Hold, ViewPart } from "../wire";
import { argumentDiff, DIFF_FOLD, isInDiff } from "./argument_diff";
import { arrange, type ArrangedFields, type FieldsPart } from "./arranged";
import { isKnown } from "./headline";
import { foreignBytes } from "./part_lines";
import { titlePart, type QuotePart } from "./worded";

export const TITLE_FOLD = "title";
export const RATIONALE_FOLD = "rationale";

/** Every fold of its card, once. */
export function foldsOf(hold: Hold): readonly string[] {
  const before = foldsKnown.get(hold);
  if (before) return before;
  // Of a question without parts nothing is drawn that could be opened.
  if (!hold.view?.parts && hold.kind !== "approve") return [];
  const diff = argumentDiff(hold);
  const title = shownTitle(hold);
  const folds = new Set([
    ...(hold.view?.parts ?? []).flatMap((part, at) => (isControl(hold, part) ? [] : foldsOfPart(hold, part, at))),
    ...(title !== null && isLong(title.text) ? [TITLE_FOLD] : []),
    ...(diff !== null && isLong(diff) ? [DIFF_FOLD] : []),
    ...(isLong(rationaleOf(hold)) ? [RATIONALE_FOLD] : []),
  ]);
  foldsKnown.set(hold, [...folds]);
  return [...folds];
}

const foldsKnown = new WeakMap<Hold, readonly string[]>();

/** A question that waits draws its options and fields whole, as what one answers with. */
function isControl(hold: Hold, part: ViewPart): boolean {
  const isAsked = hold.state === "pending" && (hold.kind === "choose" || hold.kind === "fill");
  return isAsked && (part.type === "options" || part.type === "form");
}

/** The folds of one part, by where it stands among the parts. The title has a place of its own. */
export function foldsOfPart(hold: Hold, part: ViewPart, at: number): string[] {
  switch (part.type) {
    case "fact":
      return [];
    case "fields": {
      const { fold, apart, ...list } = arrangedOf(hold, part, at);
      return [...(isLong(list) ? [fold] : []), ...apart.flatMap((one) => (isLong(one.text) ? [one.fold] : []))];
    }
    case "quote":
      return part.label !== "title" && isLong(part.text) ? [`${at}`] : [];
    case "warning":
      return isLong(part.text) ? [`${at}`] : [];
    default:
      return isLong({ bytes: foreignBytes(part) }) ? [`${at}`] : [];
  }
}

/** Whether something is still folded, so that nothing of it may be approved. */
export function useUnread(hold: Hold): boolean {
  const { opened } = useContext(FoldsOf);
  return foldsOf(hold).some((fold) => !opened.has(fold));
}

const arrangedKnown = new WeakMap<Hold, Map<number, ArrangedFields>>();

export function arrangedOf(hold: Hold, part: FieldsPart, at: number): ArrangedFields {
  const known = arrangedKnown.get(hold) ?? new Map<number, ArrangedFields>();
  arrangedKnown.set(hold, known);
  const found = known.get(at) ?? arrange(part, `${at}`, (path) => (part.label === "arguments" && isInDiff(hold, path) ? DIFF_FOLD : null));
  known.set(at, found);
  return found;
}

const rationales = new WeakMap<Hold, ForeignText>();

/** The model's own words. */
export function rationaleOf(hold: Hold): ForeignText {
  const found = rationales.get(hold) ?? foreignOf(hold.rationale ?? "");
  rationales.set(hold, found);
  return found;
}

export function isQuestion(hold: Hold): boolean {
  return hold.kind === "choose" || hold.kind === "fill" || hold.kind === "perform";
}

/** The title, if it stands on the card: one of ours is in the headline already. */
export function shownTitle(hold: Hold): QuotePart | null {
  const part = titlePart(hold);
  if (!part) return null;
  const prompted = (hold.view?.parts ?? []).some((one) => one.type === "quote" && one.label === "prompt");
  if (isQuestion(hold) && prompted) return null;
  // A tool of ours, or a code of ours: its values stand in the headline and in the call.
  if (part.code !== undefined && part.code !== "several_questions" && part.code !== "server_asks") return null;
  return part.by === "tool" && isKnown(hold) && !isQuestion(hold) ? null : part;
}
