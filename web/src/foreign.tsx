// Text that somebody else wrote, drawn so that no line of it can be taken for ours: sand, and a gutter on every drawn line,
// with a number where the text has a line and an elbow where the browser wrapped one. The gutter is the block's own background:
// it is as tall as the block whatever the text does. Captions are ours and stand above the sand. Colours only add classes.

import type { ComponentChildren } from "preact";
import { createContext } from "preact";
import { useContext, useMemo, useState } from "preact/hooks";
import { cut, cutEnd, exact, foreignOf } from "./foreign_spans";
import { highlight, type Code } from "./highlight";
import { Icon } from "./icons";
import { t, word } from "./i18n";
import type { ForeignText, Span } from "./wire";

export { exact, foreignOf };

// A longer text is folded, with its first and its last part in view: the dangerous half of a long value is often its end.
export const FOLD_BYTES = 4096;
const FIRST_CHARACTERS = 600;
const LAST_CHARACTERS = 200;

/** Which long texts of a hold were opened. An approval waits for all of them. */
export interface Folds {
  opened: ReadonlySet<string>;
  open(key: string): void;
}
export const FoldsOf = createContext<Folds>({ opened: new Set(), open: () => {} });

export const isLong = (text: ForeignText): boolean => text.bytes > FOLD_BYTES;

/** The class of every character of a line, by its place among the characters that are drawn as text. */
type Colours = (string | undefined)[] | null;

interface Props {
  /** Ours: what the text is. */
  label: ComponentChildren;
  by: string;
  text: ForeignText;
  /** Names the text within its hold, for the fold. */
  fold: string;
  prose?: boolean;
  code?: Code | null;
}

export function Foreign({ label, by, text, fold, prose = false, code = null }: Props) {
  return (
    <figure class="fx">
      <Caption label={label} by={by} text={text} />
      <Folding text={text} fold={fold}>
        {(lines) => <Lines lines={lines} prose={prose} code={code} />}
      </Folding>
    </figure>
  );
}

export function Caption({ label, by, text, children }: { label: ComponentChildren; by: string; text?: ForeignText; children?: ComponentChildren }) {
  const [copied, setCopied] = useState(false);
  const copy = (whole: ForeignText) => {
    void navigator.clipboard.writeText(exact(whole)).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), 2000);
    });
  };
  return (
    <figcaption>
      <span class="fx-cap">
        <b>{label}</b> {word("view.by", by)}
        {children}
        {text && (text.lines.length > 1 || text.bytes > 100) ? <> · {t(text.lines.length > 1 ? "view.size" : "view.size.one", { lines: text.lines.length, bytes: text.bytes.toLocaleString() })}</> : null}
      </span>
      {text && navigator.clipboard ? (
        <button type="button" class="fx-copy" aria-label={t("view.copy.label")} onClick={() => copy(text)}>
          <Icon name={copied ? "approved" : "copy"} />
          <span class="fx-copy-word" role="status">
            {copied ? t("view.copied") : t("view.copy")}
          </span>
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
        <button type="button" class="tiny" onClick={() => folds.open(fold)}>
          {t("view.open")}
        </button>
        <span class="fx-fold-end">{t("view.folded.end")}</span>
      </div>
      {children(last)}
    </>
  );
}

interface LinesProps {
  lines: Span[][];
  prose?: boolean;
  marks?: string[] | undefined;
  code?: Code | null;
  /** Our own colours, where the structure is known without reading the text. */
  colours?: Colours[];
}

export function Lines({ lines, prose = false, marks, code = null, colours }: LinesProps) {
  const read = useMemo(() => (code === null ? null : coloursOf(lines, code)), [lines, code]);
  return (
    <div class="fx-body">
      <ol class={prose ? "fx-lines fx-prose" : "fx-lines"}>
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

/** A short foreign word in a sentence of ours: one line, and cut with "…". `value`: a second word, behind a sign of ours. */
export function Chip({ text, after, value }: { text: ForeignText | string; after?: string; value?: ForeignText }) {
  const foreign = typeof text === "string" ? foreignOf(text) : text;
  return (
    <span class="chip" dir="ltr">
      <ChipText text={foreign} />
      {after ? <span class="chip-sign">{after}</span> : null}
      {value ? <ChipText text={value} /> : null}
    </span>
  );
}

function ChipText({ text }: { text: ForeignText }) {
  return (
    <>
      {text.lines.map((line, at) => (
        <>
          {at > 0 ? <span class="fx-pill fx-code">U+000A</span> : null}
          <Spans line={line} />
        </>
      ))}
    </>
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
export function Quoted({ text, prose = false, whole = false, code = null }: { text: ForeignText | string; prose?: boolean; whole?: boolean; code?: Code | null }) {
  const foreign = typeof text === "string" ? foreignOf(text) : text;
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  return (
    <FoldsOf.Provider value={{ opened, open: (key) => setOpened(new Set([...opened, key])) }}>
      <div class="fx">
        {whole ? (
          <Lines lines={foreign.lines} prose={prose} code={code} />
        ) : (
          <Folding text={foreign} fold="quoted">
            {(lines) => <Lines lines={lines} prose={prose} code={code} />}
          </Folding>
        )}
      </div>
    </FoldsOf.Provider>
  );
}
