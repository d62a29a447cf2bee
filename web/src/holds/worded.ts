// The server's own sentences in the language of the page: titles, summaries, warnings, and how a call runs.

import { language } from "../i18n";
import { captionInChinese } from "../text/zh_captions";
import { phraseInChinese } from "../text/zh_phrases";
import { warningInChinese } from "../text/zh_warnings";
import type { ForeignText, Hold, Phrase, Span, ViewPart } from "../wire";

export type QuotePart = Extract<ViewPart, { type: "quote" }>;
export type WarningPart = Extract<ViewPart, { type: "warning" }>;

/** The sentence in the language of the page, in one frame with what it quotes. */
export function warningLines(part: WarningPart): Span[][] {
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
export function quoted(part: QuotePart): ForeignText {
  if (language() !== "zh") return part.text;
  if (part.phrases) return { bytes: part.text.bytes, lines: phrased(part.text.lines, part.phrases) };
  if (!part.code) return part.text;
  const worded = captionInChinese(part.code, part.values ?? {});
  return worded ? { bytes: part.text.bytes, lines: [join(worded)] } : part.text;
}

/** One line of several pieces; a line break inside one is named. */
export function join(pieces: (ForeignText | string)[]): Span[] {
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

export function titlePart(hold: Hold): QuotePart | null {
  const part = (hold.view?.parts ?? []).find((one) => one.type === "quote" && one.label === "title");
  return part?.type === "quote" ? part : null;
}

export function titleOf(hold: Hold): ForeignText | string {
  const part = titlePart(hold);
  return part ? quoted(part) : hold.title;
}

/** The title in plain text, for screen readers. */
export function titleText(hold: Hold): string {
  const title = titleOf(hold);
  if (language() !== "zh" || typeof title === "string") return hold.title;
  const said = (span: Span): string => (typeof span === "string" ? span : "spaces" in span ? " " : `⟦${span.code}⟧`);
  return title.lines.map((line) => line.map(said).join("")).join(" ");
}
