// The drawn lines of foreign text: one item for each, with its marks and colours. The gutter is of the block (`foreign.tsx`).

import { useMemo } from "preact/hooks";
import { highlight, type Code } from "./highlight";
import type { Span } from "./wire";

/** The class of every character of a line, by its place among the characters that are drawn as text. */
export type Colours = (string | undefined)[] | null;

export interface LinesProps {
  lines: Span[][];
  prose?: boolean;
  marks?: string[] | undefined;
  code?: Code | null;
  /** Our own colours, where the structure is known without reading the text. */
  colours?: Colours[] | undefined;
  /** How many lines of the text stand before these. */
  before?: number;
}

export function Lines({ lines, prose = false, marks, code = null, colours, before = 0 }: LinesProps) {
  const read = useColours(lines, code);
  return (
    <div class="fx-body">
      <ol class={prose ? "fx-lines fx-prose" : "fx-lines"} style={before > 0 ? { counterReset: `fx-line ${before}` } : undefined}>
        {lines.map((line, at) => (
          <li key={at} class={marks?.[at]}>
            <Spans line={line} colours={colours?.[at] ?? read?.[at] ?? null} />
            {at + 1 < lines.length && !marks ? <span class="fx-eol" aria-hidden="true" /> : null}
          </li>
        ))}
      </ol>
    </div>
  );
}

const standIn = (span: Span): string => (typeof span === "string" ? span : "spaces" in span ? " " : "\uFFFD");

/** How many characters of a line are drawn as text. */
export const widthOf = (line: Span[]): number => line.reduce((sum, span) => sum + standIn(span).length, 0);

export function useColours(lines: Span[][], code: Code | null): Colours[] | null {
  return useMemo(() => (code === null ? null : coloursOf(lines, code)), [lines, code]);
}

/** Reads the lines together, since a quote may go on over their ends, and says for each character which class it has. */
function coloursOf(lines: Span[][], code: Code): Colours[] | null {
  const texts = lines.map((line) => line.map(standIn).join(""));
  const classes: (string | undefined)[] = [];
  try {
    for (const [kind, text] of highlight(texts.join("\n"), code)) for (let at = 0; at < text.length; at += 1) classes.push(kind === "" ? undefined : `hl-${kind}`);
  } catch {
    // The colours may fail; the text may not.
    return null;
  }
  let from = 0;
  return texts.map((text) => {
    const own = classes.slice(from, from + text.length);
    from += text.length + 1;
    return own;
  });
}

export function Spans({ line, colours = null }: { line: Span[]; colours?: Colours }) {
  let from = 0;
  return (
    <>
      {line.map((span, at) => {
        const start = from;
        from += standIn(span).length;
        if (typeof span !== "string") return <Mark key={at} span={span} />;
        if (colours === null) return <Dotted key={at} text={span} first={at === 0} />;
        return runs(span, colours.slice(start, from)).map(([kind, text], index) =>
          kind === undefined ? <Dotted key={`${at}.${index}`} text={text} first={at === 0 && index === 0} /> : <span key={`${at}.${index}`} class={kind}><Dotted text={text} first={at === 0 && index === 0} /></span>,
        );
      })}
    </>
  );
}

function runs(text: string, colours: (string | undefined)[]): [string | undefined, string][] {
  const found: [string | undefined, string][] = [];
  for (let at = 0; at < text.length; at += 1) {
    const last = found.at(-1);
    if (last && last[0] === colours[at]) last[1] += text[at];
    else found.push([colours[at], text[at] ?? ""]);
  }
  return found;
}

function Mark({ span }: { span: Exclude<Span, string> }) {
  if ("spaces" in span) return <span class="fx-pill">·×{span.spaces}</span>;
  return <span class="fx-pill fx-code">{span.count > 1 ? `${span.code}×${span.count}` : span.code}</span>;
}

/** Spaces at the beginning, and two or three in a row, as dots. */
function Dotted({ text, first }: { text: string; first: boolean }) {
  const pieces = text.split(first ? /(^ +| {2,})/ : /( {2,})/);
  return <>{pieces.map((piece, at) => (/^ +$/.test(piece) && (piece.length > 1 || (first && at <= 1)) ? <span class="fx-dots">{"·".repeat(piece.length)}</span> : piece))}</>;
}
