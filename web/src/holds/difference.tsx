// Lines that go and lines that come, with the words in them that differ.

import { diffWordsWithSpace } from "diff";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { FoldedLines, useFolded } from "../folding";
import { Caption } from "../foreign";
import type { Colours } from "../foreign_lines";
import type { Span } from "../wire";
import { WITHIN_MS, type DiffRow } from "./compare";

// Words are compared for so many pairs of lines; nobody reads more of them by colour.
const PAIRS_MOST = 500;

interface Props {
  label: ComponentChildren;
  by: string;
  rows: DiffRow[];
  /** Names it within its hold. */
  fold?: string;
  /** What the fold goes by; without it nothing is folded. */
  bytes?: number;
}

export function Difference({ label, by, rows, fold = "", bytes = 0 }: Props) {
  const folded = useFolded(fold, bytes);
  const words = useMemo(() => (folded ? undefined : changedWords(rows)), [rows, folded]);
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
      <FoldedLines lines={rows.map((row) => row.line)} marks={rows.map((row) => `fx-${row.sign}`)} colours={words} fold={fold} bytes={bytes} />
    </figure>
  );
}

/** For all pairs of lines together: a page that stands still could not deny. */
const ALL_WITHIN_MS = 300;

const plain = (line: Span[]): string | null => (line.every((span) => typeof span === "string") ? line.join("") : null);

/** Marks what differs between a line that goes and the one that comes in its place. */
function changedWords(rows: DiffRow[]): Colours[] {
  const marks: Colours[] = rows.map(() => null);
  let [at, pairs] = [0, 0];
  const until = performance.now() + ALL_WITHIN_MS;
  while (at < rows.length) {
    const from = at;
    while (rows[at]?.sign === "removed") at += 1;
    const middle = at;
    while (rows[at]?.sign === "added") at += 1;
    for (let step = 0; step < Math.min(middle - from, at - middle) && pairs < PAIRS_MOST && performance.now() < until; step += 1, pairs += 1) markPair(rows, marks, from + step, middle + step);
    if (at === from) at += 1;
  }
  return marks;
}

function markPair(rows: DiffRow[], marks: Colours[], old: number, now: number): void {
  const [before, after] = [plain(rows[old]?.line ?? []), plain(rows[now]?.line ?? [])];
  if (before === null || after === null || before.length + after.length > 4000) return;
  const words = diffWordsWithSpace(before, after, { timeout: WITHIN_MS });
  if (!words) return;
  const of = (mine: "added" | "removed"): (string | undefined)[] =>
    words.flatMap((word) => (word[mine === "added" ? "removed" : "added"] ? [] : Array.from({ length: word.value.length }, () => (word[mine] ? `fx-word-${mine}` : undefined))));
  marks[old] = of("removed");
  marks[now] = of("added");
}
