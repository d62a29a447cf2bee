// Text that somebody else wrote, drawn so that no line of it can be taken for ours: sand, and a gutter on every drawn line,
// with a number where the text has a line and an elbow where the browser wrapped one. The gutter is the block's own background:
// it is as tall as the block whatever the text does. Captions are ours and stand above the sand. Colours only add classes.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { FoldedLines, FoldsOf } from "./folding";
import { Lines, Spans } from "./foreign_lines";
import { exact, foreignOf } from "./foreign_spans";
import type { Code } from "./highlight";
import { Icon } from "./icons";
import { t, word } from "./i18n";
import type { ForeignText } from "./wire";

export { exact, foreignOf, FoldsOf, Lines };

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
      <FoldedLines lines={text.lines} bytes={text.bytes} fold={fold} prose={prose} code={code} />
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

/** Where a value lies: the names are theirs, places in lists and what stands between are ours. */
export function PathChip({ path }: { path: (ForeignText | number)[] }) {
  return (
    <span class="chip" dir="ltr">
      {path.map((step, at) => (
        <>
          {at > 0 ? <span class="chip-sign">›</span> : null}
          {typeof step === "number" ? <span class="chip-sign">#{step}</span> : <ChipText text={step} />}
        </>
      ))}
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
        {whole ? <Lines lines={foreign.lines} prose={prose} code={code} /> : <FoldedLines lines={foreign.lines} bytes={foreign.bytes} fold="quoted" prose={prose} code={code} />}
      </div>
    </FoldsOf.Provider>
  );
}
