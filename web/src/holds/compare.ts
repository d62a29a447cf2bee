// Two texts, line by line. The comparing is bounded; what takes too long is shown as all old lines and all new ones.

import { diffLines } from "diff";
import { foreignOf } from "../foreign_spans";
import type { Span } from "../wire";

export const WITHIN_MS = 50;
const CHARACTERS_MOST = 200_000;

export interface DiffRow {
  sign: "added" | "removed" | "same";
  line: Span[];
}

/** Two texts, line by line. */
export function compare(before: string, after: string): DiffRow[] {
  const lines = (text: string): string[] => text.replace(/\n$/, "").split("\n");
  const rows = (sign: DiffRow["sign"], text: string): DiffRow[] => lines(text).map((line) => ({ sign, line: foreignOf(line).lines[0] ?? [] }));
  const all = () => [...rows("removed", before), ...rows("added", after)];
  if (before.length + after.length > CHARACTERS_MOST) return all();
  const found = diffLines(before, after, { timeout: WITHIN_MS });
  if (!found) return all();
  return found.flatMap((part) => rows(part.added ? "added" : part.removed ? "removed" : "same", part.value));
}

// Enough to see where a change is.
const AROUND = 2;

/** Only the lines that change, and a few around them. */
export function aroundChanges(rows: DiffRow[]): DiffRow[] {
  return rows.filter((_, at) => rows.slice(Math.max(0, at - AROUND), at + AROUND + 1).some((row) => row.sign !== "same"));
}
