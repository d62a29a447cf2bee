// What is asked, part by part, as the server made it from the stored bytes. Facts and labels are ours; all else is foreign.

import type { ComponentChildren } from "preact";
import { Caption, Chip, Foreign, Heading, isLong, Lines } from "../foreign";
import { Icon } from "../icons";
import { language, OPENED_LINK, optionLabel, t, word } from "../i18n";
import { captionInChinese } from "../text/zh_captions";
import { phraseInChinese } from "../text/zh_phrases";
import { warningInChinese } from "../text/zh_warnings";
import type { ForeignText, Hold, Phrase, Span, ViewField, ViewPart } from "../wire";

/** The long texts that must be opened before an approval. */
export function longTexts(hold: Hold): string[] {
  const keys: string[] = [];
  (hold.view?.parts ?? []).forEach((part, at) => {
    if ("text" in part && isLong(part.text)) keys.push(`${at}`);
    if (part.type === "fields") part.fields.forEach((field, index) => stands(field) && isLong(field.text) && keys.push(`${at}.${index}`));
  });
  return keys;
}

// The title is the heading, and options and fields of a form are drawn as controls.
const ELSEWHERE = new Set(["title"]);

export function Parts({ hold, controls }: { hold: Hold; controls: boolean }) {
  const parts = hold.view?.parts ?? [];
  return (
    <div class="parts" data-testid="view">
      {parts.map((part, at) => {
        if ("label" in part && ELSEWHERE.has(part.label)) return null;
        if (controls && (part.type === "options" || part.type === "form")) return null;
        return <PartOf key={at} part={part} at={`${at}`} />;
      })}
    </div>
  );
}

function PartOf({ part, at }: { part: ViewPart; at: string }) {
  switch (part.type) {
    case "fact":
      return part.label === "asks" ? null : (
        <p class="part-fact">
          <span>{word("view.label", part.label)}</span> <strong>{part.label === "effects" ? word("hold.effects", part.value) : part.value}</strong>
        </p>
      );
    case "quote":
      return part.label === "tool" ? (
        <p class="part-fact">
          <span>{word("view.label", part.label)}</span> <Chip text={part.text} />
        </p>
      ) : (
        <Foreign label={word("view.label", part.label)} by={part.by} text={quoted(part)} fold={at} />
      );
    case "warning":
      return (
        <div class="warning part-warning">
          <Icon name="warning" />
          <div class="fx">
            <Caption label={t("hold.warning")} by={part.by} />
            <Lines lines={warningLines(part)} prose />
          </div>
        </div>
      );
    case "fields":
      return <Fields part={part} at={at} />;
    case "options":
      return (
        <figure class="fx">
          <Caption label={part.multiple ? t("choose.many") : t("choose.one")} by={part.by} />
          <Lines lines={part.options.flatMap((one, index) => [join(option(one, index + 1)), ...(one.description ? [join(["   ", one.description])] : [])])} marks={[]} />
        </figure>
      );
    case "form":
      return (
        <figure class="fx">
          <Caption label={word("view.label", "form")} by={part.by} />
          <Lines lines={part.fields.map((field) => join([...(field.title ? [field.title, " · "] : []), field.name]))} marks={[]} />
        </figure>
      );
    case "diff":
      return (
        <figure class="fx">
          <Caption label={word("view.label", part.label)} by={part.by} />
          <Lines lines={part.lines.map((line) => (part.label === "edit" ? edited : join)([line.text]))} marks={part.lines.map((line) => `fx-${line.sign}`)} />
        </figure>
      );
  }
}

/** A line of an edit, with the words in it that are ours. No field ends in them, and a line of a text begins with a bar. */
function edited(pieces: (ForeignText | string)[]): Span[] {
  const line = join(pieces);
  const last = line.at(-1);
  if (language() !== "zh" || typeof last !== "string") return line;
  if (line.length === 1 && last === "… (more was changed than is shown here)") return ["…（更改较多，此处未全部显示）"];
  const ofText = typeof line[0] === "string" && /^\s*│/.test(line[0]);
  return ofText ? line : [...line.slice(0, -1), last.replace(/(^|[:\- ])\(text\)$/, "$1（文本）")];
}

/** The sentence in the language of the page, in one frame with what it quotes. */
function warningLines(part: Extract<ViewPart, { type: "warning" }>): Span[][] {
  const worded = language() === "zh" && part.code ? warningInChinese(part.code, part.values ?? {}) : null;
  return worded ? [join(worded)] : part.text.lines;
}

/** Lines of the server's own in Chinese, between lines of others as they are. */
function phrased(lines: Span[][], phrases: (Phrase & { line: number })[]): Span[][] {
  const worded = new Map(phrases.map((phrase) => [phrase.line, phraseInChinese(phrase)]));
  return lines.map((line, at) => {
    const pieces = worded.get(at);
    return pieces ? join(pieces) : line;
  });
}

/** A title or a summary in the language of the page. It is as long as the text, so that it folds where that does. */
function quoted(part: Extract<ViewPart, { type: "quote" }>): ForeignText {
  if (language() !== "zh") return part.text;
  if (part.phrases) return { bytes: part.text.bytes, lines: phrased(part.text.lines, part.phrases) };
  if (!part.code) return part.text;
  const worded = captionInChinese(part.code, part.values ?? {});
  return worded ? { bytes: part.text.bytes, lines: [join(worded)] } : part.text;
}

/** A text that is long, or has lines of its own, stands in a frame of its own. */
function stands(field: ViewField): field is ViewField & { text: ForeignText; name: ForeignText } {
  const { text } = field;
  return field.depth === 0 && field.kind === "text" && field.name !== null && text !== null && (text.lines.length > 1 || text.bytes > 60);
}

function Fields({ part, at }: { part: Extract<ViewPart, { type: "fields" }>; at: string }) {
  const drawn: ComponentChildren[] = [];
  let rows: ViewField[] = [];
  const flush = (key: number) => {
    if (rows.length === 0) return;
    const lines = rows.flatMap(fieldLines);
    drawn.push(
      <figure class="fx" key={`rows${key}`}>
        <Caption label={word("view.label", part.label)} by={part.by} />
        <Lines lines={lines} marks={[]} />
      </figure>,
    );
    rows = [];
  };
  part.fields.forEach((field, index) => {
    if (!stands(field)) {
      rows.push(field);
      return;
    }
    flush(index);
    drawn.push(<Foreign key={index} label={<Chip text={field.name} />} by={part.by} text={field.text} fold={`${at}.${index}`} />);
  });
  flush(part.fields.length);
  return <>{drawn}</>;
}

/** Options count from 1, as in chats and terminals; the asker's own id stands behind, where it is another. */
function option(one: { id: ForeignText; label: ForeignText }, place: number): (ForeignText | string)[] {
  const id = one.id.lines.length === 1 && one.id.lines[0]?.length === 1 ? one.id.lines[0][0] : null;
  const ours = id === `${place}` || id === `opt_${place}`;
  if (id === "link_opened" && one.label.lines[0]?.[0] === OPENED_LINK.label) return [`${place}. `, optionLabel(OPENED_LINK)];
  return [`${place}. `, one.label, ...(ours ? [] : [language() === "zh" ? "（标识 " : " (id ", one.id, language() === "zh" ? "）" : ")"])];
}

function fieldLines(field: ViewField): Span[][] {
  const indent = "  ".repeat(field.depth);
  const name: (ForeignText | string)[] = field.name ? [indent, field.name, ":"] : [`${indent}-`];
  if (field.text === null) return [join(name)];
  // Quoted, so that "1" and 1, "true" and true look different.
  if (field.kind !== "text") return [join([...name, " ", field.text])];
  if (field.text.lines.length === 1) return [join([...name, ' "', field.text, '"'])];
  return [join(name), ...field.text.lines.map((line) => [`${indent}  │ `, ...line])];
}

/** One line of several pieces; a line break inside one is named. */
function join(pieces: (ForeignText | string)[]): Span[] {
  const line: Span[] = [];
  const push = (span: Span) => {
    const last = line.at(-1);
    if (typeof span === "string" && typeof last === "string") line[line.length - 1] = last + span;
    else line.push(span);
  };
  for (const piece of pieces) {
    if (typeof piece === "string") {
      push(piece);
      continue;
    }
    piece.lines.forEach((row, at) => {
      if (at > 0) push({ code: "U+000A", count: 1 });
      row.forEach(push);
    });
  }
  return line;
}

/** The heading: what the asker called it, on sand like everything of theirs. */
export function Title({ hold }: { hold: Hold }) {
  return <Heading text={titleOf(hold)} />;
}

/** The same in plain text, for screen readers. */
export function titleText(hold: Hold): string {
  const title = titleOf(hold);
  if (language() !== "zh" || typeof title === "string") return hold.title;
  const said = (span: Span): string => (typeof span === "string" ? span : "spaces" in span ? " " : `⟦${span.code}⟧`);
  return title.lines.map((line) => line.map(said).join("")).join(" ");
}

export function titleOf(hold: Hold): ForeignText | string {
  const part = (hold.view?.parts ?? []).find((one) => one.type === "quote" && one.label === "title");
  return part?.type === "quote" ? quoted(part) : hold.title;
}
