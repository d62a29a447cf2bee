// Lines that go and lines that come, with the words in them that differ. The comparing is bounded; what takes too long is
// shown as all old lines and all new ones.

import { diffLines, diffWordsWithSpace } from "diff";
import type { ComponentChildren } from "preact";
import { Caption, foreignOf, Lines } from "../foreign";
import type { Span } from "../wire";

const WITHIN_MS = 50;
const CHARACTERS_MOST = 200_000;

export interface DiffRow {
  sign: "added" | "removed" | "same";
  line: Span[];
}

interface Props {
  label: ComponentChildren;
  by: string;
  rows: DiffRow[];
}

export function Difference({ label, by, rows }: Props) {
  const added = rows.filter((row) => row.sign === "added").length;
  const removed = rows.filter((row) => row.sign === "removed").length;
  return (
    <figure class="fx fx-diff">
      <Caption label={label} by={by}>
        {" "}
        <span class="diff-count">
          <ins>+{added}</ins> <del>−{removed}</del>
        </span>
      </Caption>
      <Lines lines={rows.map((row) => row.line)} marks={rows.map((row) => `fx-${row.sign}`)} colours={changedWords(rows)} />
    </figure>
  );
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

const plain = (line: Span[]): string | null => (line.every((span) => typeof span === "string") ? line.join("") : null);

/** Marks what differs between a line that goes and the one that comes in its place. */
function changedWords(rows: DiffRow[]): ((string | undefined)[] | null)[] {
  const marks: ((string | undefined)[] | null)[] = rows.map(() => null);
  let at = 0;
  while (at < rows.length) {
    const from = at;
    while (rows[at]?.sign === "removed") at += 1;
    const middle = at;
    while (rows[at]?.sign === "added") at += 1;
    for (let step = 0; step < Math.min(middle - from, at - middle); step += 1) markPair(rows, marks, from + step, middle + step);
    if (at === from) at += 1;
  }
  return marks;
}

function markPair(rows: DiffRow[], marks: ((string | undefined)[] | null)[], old: number, now: number): void {
  const [before, after] = [plain(rows[old]?.line ?? []), plain(rows[now]?.line ?? [])];
  if (before === null || after === null || before.length + after.length > 4000) return;
  const words = diffWordsWithSpace(before, after, { timeout: WITHIN_MS });
  if (!words) return;
  const of = (mine: "added" | "removed"): (string | undefined)[] =>
    words.flatMap((word) => (word[mine === "added" ? "removed" : "added"] ? [] : Array.from({ length: word.value.length }, () => (word[mine] ? `fx-word-${mine}` : undefined))));
  marks[old] = of("removed");
  marks[now] = of("added");
}
