// Text that somebody else wrote, drawn so that no line of it can be taken for ours: sand, and a gutter on every drawn line,
// with a number where the text has a line and an elbow where the browser wrapped one. The gutter is the block's own background:
// it is as tall as the block whatever the text does. Captions are ours and stand above the sand.

import type { ComponentChildren } from "preact";
import { useContext, useState } from "preact/hooks";
import { createContext } from "preact";
import { t, word } from "./i18n";
import type { ForeignText, Span } from "./wire";

// A longer text is folded, with its first and its last part in view: the dangerous half of a long value is often its end.
export const FOLD_BYTES = 4096;
const FIRST_CHARACTERS = 600;
const LAST_CHARACTERS = 200;

/** Which long texts of a hold were opened. Whoever approves has opened all of them. */
export interface Folds {
  opened: ReadonlySet<string>;
  open(key: string): void;
}
export const FoldsOf = createContext<Folds>({ opened: new Set(), open: () => {} });

export const isLong = (text: ForeignText): boolean => text.bytes > FOLD_BYTES;

interface Props {
  /** Ours: what the text is. */
  label: ComponentChildren;
  by: string;
  text: ForeignText;
  /** Names the text within its hold, for the fold. */
  fold: string;
  prose?: boolean;
}

export function Foreign({ label, by, text, fold, prose = false }: Props) {
  return (
    <figure class="fx">
      <Caption label={label} by={by} text={text} />
      <Folding text={text} fold={fold}>
        {(lines) => <Lines lines={lines} prose={prose} />}
      </Folding>
    </figure>
  );
}

export function Caption({ label, by, text }: { label: ComponentChildren; by: string; text?: ForeignText }) {
  return (
    <figcaption>
      <span class="fx-cap">
        <b>{label}</b> {word("view.by", by)}
        {text && (text.lines.length > 1 || text.bytes > 100) ? <> · {t(text.lines.length > 1 ? "view.size" : "view.size.one", { lines: text.lines.length, bytes: text.bytes.toLocaleString() })}</> : null}
      </span>
      {text && navigator.clipboard ? (
        <button type="button" class="fx-copy" onClick={() => void navigator.clipboard.writeText(exact(text))}>
          {t("view.copy")}
        </button>
      ) : null}
    </figcaption>
  );
}

function Folding({ text, fold, children }: { text: ForeignText; fold: string; children: (lines: Span[][]) => ComponentChildren }) {
  const folds = useContext(FoldsOf);
  if (!isLong(text) || folds.opened.has(fold)) return <>{children(text.lines)}</>;
  const first = cut(text.lines, FIRST_CHARACTERS);
  const last = cutEnd(text.lines, LAST_CHARACTERS);
  return (
    <>
      {children(first)}
      <div class="fx-fold" data-fold={fold}>
        <span>{t("view.folded", { bytes: text.bytes.toLocaleString() })}</span>
        <button type="button" onClick={() => folds.open(fold)}>
          {t("view.open")}
        </button>
        <span class="fx-fold-end">{t("view.folded.end")}</span>
      </div>
      {children(last)}
    </>
  );
}

export function Lines({ lines, prose = false, marks }: { lines: Span[][]; prose?: boolean; marks?: string[] | undefined }) {
  return (
    <div class="fx-body">
      <ol class={prose ? "fx-lines fx-prose" : "fx-lines"}>
        {lines.map((line, at) => (
          <li key={at} class={marks?.[at]}>
            <Spans line={line} />
            {at + 1 < lines.length && !marks ? <span class="fx-eol" aria-hidden="true" /> : null}
          </li>
        ))}
      </ol>
    </div>
  );
}

export function Spans({ line }: { line: Span[] }) {
  return (
    <>
      {line.map((span, at) => {
        if (typeof span !== "string") return <Pill key={at} span={span} />;
        return <Dotted key={at} text={span} first={at === 0} />;
      })}
    </>
  );
}

function Pill({ span }: { span: Exclude<Span, string> }) {
  if ("spaces" in span) return <span class="fx-pill">·×{span.spaces}</span>;
  return <span class="fx-pill fx-code">{span.count > 1 ? `${span.code}×${span.count}` : span.code}</span>;
}

/** Spaces at the beginning, and two or three in a row, as dots. */
function Dotted({ text, first }: { text: string; first: boolean }) {
  const pieces = text.split(first ? /(^ +| {2,})/ : /( {2,})/);
  return <>{pieces.map((piece, at) => (/^ +$/.test(piece) && (piece.length > 1 || at <= 1) ? <span class="fx-dots">{"·".repeat(piece.length)}</span> : piece))}</>;
}

/** A short foreign word in a sentence of ours: one line, and cut with "…". */
export function Chip({ text }: { text: ForeignText | string }) {
  const foreign = typeof text === "string" ? foreignOf(text) : text;
  return (
    <span class="chip" dir="ltr">
      {foreign.lines.map((line, at) => (
        <>
          {at > 0 ? <span class="fx-pill fx-code">U+000A</span> : null}
          <Spans line={line} />
        </>
      ))}
    </span>
  );
}

/** A heading in somebody else's words: its first line, on sand like everything of theirs. */
export function Heading({ text }: { text: ForeignText | string }) {
  const foreign = typeof text === "string" ? foreignOf(text) : text;
  return (
    <span class="fx fx-title">
      <span class="fx-body">
        <span class="fx-lines fx-prose">
          <span class="fx-li">
            <Spans line={foreign.lines[0] ?? []} />
          </span>
        </span>
      </span>
    </span>
  );
}

/** Foreign text without a caption of its own, in a place that says whose it is. `whole`: however long it is, nothing is folded. */
export function Quoted({ text, prose = false, whole = false }: { text: ForeignText | string; prose?: boolean; whole?: boolean }) {
  const foreign = typeof text === "string" ? foreignOf(text) : text;
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  return (
    <FoldsOf.Provider value={{ opened, open: (key) => setOpened(new Set([...opened, key])) }}>
      <div class="fx">
        {whole ? (
          <Lines lines={foreign.lines} prose={prose} />
        ) : (
          <Folding text={foreign} fold="quoted">
            {(lines) => <Lines lines={lines} prose={prose} />}
          </Folding>
        )}
      </div>
    </FoldsOf.Provider>
  );
}

/** The exact text. */
export function exact(text: ForeignText): string {
  const said = (span: Span): string => {
    if (typeof span === "string") return span;
    if ("spaces" in span) return " ".repeat(span.spaces);
    return String.fromCodePoint(Number.parseInt(span.code.slice(2), 16)).repeat(span.count);
  };
  return text.lines.map((line) => line.map(said).join("")).join("\n");
}

const length = (span: Span): number => (typeof span === "string" ? span.length : 10);

function cut(lines: Span[][], room: number): Span[][] {
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

function cutEnd(lines: Span[][], room: number): Span[][] {
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
  for (const piece of line.split(/( +)/)) {
    if (/^ +$/.test(piece)) {
      const most = spans.length === 0 ? 16 : 3;
      if (piece.length <= most && !line.endsWith(piece)) push(piece);
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
