// Foreign text as spans: its exact bytes, its first and last part, and the cutting of text that the server has not cut itself.

import type { ForeignText, Span } from "./wire";

/** The exact text. */
export function exact(text: ForeignText): string {
  const said = (span: Span): string => {
    if (typeof span === "string") return span;
    if ("spaces" in span) return " ".repeat(span.spaces);
    return String.fromCodePoint(Number.parseInt(span.code.slice(2), 16)).repeat(span.count);
  };
  return text.lines.map((line) => line.map(said).join("")).join("\n");
}

/** The size of lines that stand under one another. */
export function bytesOf(lines: Span[][]): number {
  return new TextEncoder().encode(exact({ bytes: 0, lines })).length;
}

/** A mark is drawn about this wide. */
const length = (span: Span): number => (typeof span === "string" ? span.length : 10);

export function cut(lines: Span[][], room: number): Span[][] {
  const kept: Span[][] = [];
  for (const line of lines) {
    const row: Span[] = [];
    for (const span of line) {
      if (room <= 0) break;
      row.push(typeof span === "string" ? sliced(span, 0, room) : span);
      room -= length(span);
    }
    kept.push(row);
    room -= 1;
    if (room <= 0) break;
  }
  return kept;
}

export function cutEnd(lines: Span[][], room: number): Span[][] {
  const kept: Span[][] = [];
  for (const line of [...lines].reverse()) {
    const row: Span[] = [];
    for (const span of [...line].reverse()) {
      if (room <= 0) break;
      row.unshift(typeof span === "string" ? sliced(span, Math.max(0, span.length - room), span.length) : span);
      room -= length(span);
    }
    kept.unshift(row);
    room -= 1;
    if (room <= 0) break;
  }
  return kept;
}

/** Never in the middle of a character. */
function sliced(text: string, from: number, to: number): string {
  return text.slice(from, to).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
}

// C0 and C1 controls, soft hyphen, Arabic letter mark, fillers, zero-width and bidi characters, odd spaces, separators, invisible
// operators, BOM, interlinear and object marks, private use, tag characters, and marks that paint over their letter. For text
// that the server has not cut into spans itself.
const HIDDEN =
  /[\u0000-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\u0334-\u0338\u20d0-\u20f0⏎\ue000-\uf8ff\u{e0000}-\u{e0fff}]/u;

export function foreignOf(text: string): ForeignText {
  const lines = text.replace(/\r\n/g, "\n").split("\n").map(spansOf);
  return { bytes: new TextEncoder().encode(text).length, lines };
}

function spansOf(line: string): Span[] {
  const spans: Span[] = [];
  const push = (piece: string) => {
    const last = spans.at(-1);
    if (typeof last === "string") spans[spans.length - 1] = last + piece;
    else spans.push(piece);
  };
  const pieces = line.split(/( +)/);
  for (const [at, piece] of pieces.entries()) {
    if (/^ +$/.test(piece)) {
      const most = spans.length === 0 ? 16 : 3;
      // Behind spaces at the end of the line there is only an empty piece.
      const last = at === pieces.length - 2 && pieces[at + 1] === "";
      if (piece.length <= most && !last) push(piece);
      else spans.push({ spaces: piece.length });
      continue;
    }
    for (const character of piece) {
      if (!HIDDEN.test(character)) {
        push(character);
        continue;
      }
      const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
      const last = spans.at(-1);
      if (last !== undefined && typeof last !== "string" && "code" in last && last.code === code) last.count += 1;
      else spans.push({ code, count: 1 });
    }
  }
  return spans;
}
