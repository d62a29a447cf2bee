// The lines of a part that is no text of its own: options, a form, a diff. Words of ours between them are in the language of the page.

import { language, OPENED_LINK, optionLabel } from "../i18n";
import type { ForeignText, Span, ViewPart } from "../wire";
import type { DiffRow } from "./compare";
import { join } from "./worded";

type OptionsPart = Extract<ViewPart, { type: "options" }>;
type FormPart = Extract<ViewPart, { type: "form" }>;
type DiffPart = Extract<ViewPart, { type: "diff" }>;

/** What a fold goes by: the size of what others wrote, which is the same in every language. */
export function foreignBytes(part: OptionsPart | FormPart | DiffPart): number {
  const texts = part.type === "diff" ? part.lines.map((line) => line.text) : part.type === "options" ? part.options.flatMap((one) => [one.id, one.label, one.description]) : part.fields.flatMap((field) => [field.name, field.title]);
  return texts.reduce((sum, text) => sum + (text === null ? 0 : text.bytes + 1), 0);
}

export function optionLines(part: OptionsPart): Span[][] {
  return part.options.flatMap((one, index) => [join(option(one, index + 1)), ...(one.description ? [join(["   ", one.description])] : [])]);
}

export function formLines(part: FormPart): Span[][] {
  return part.fields.map((field) => join([...(field.title ? [field.title, " · "] : []), field.name]));
}

export function diffRows(part: DiffPart): DiffRow[] {
  const rows = part.lines.map((line): DiffRow => ({ sign: line.sign, line: (part.label === "edit" ? edited : join)([line.text]) }));
  // Names of files at the top are no lines that go or come, and are not counted as such.
  const [old, now, where] = rows;
  const begins = (row: DiffRow | undefined, sign: DiffRow["sign"], text: string) => row?.sign === sign && String(row.line[0]).startsWith(text);
  if (!old || !now || !begins(old, "removed", "-- ") || !begins(now, "added", "++ ") || !begins(where, "same", "@@ -")) return rows;
  return [{ sign: "same", line: [`-${old.line[0]}`, ...old.line.slice(1)] }, { sign: "same", line: [`+${now.line[0]}`, ...now.line.slice(1)] }, ...rows.slice(2)];
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

/** Options count from 1, as in chats and terminals; the asker's own id stands behind, where it is another. */
function option(one: { id: ForeignText; label: ForeignText }, place: number): (ForeignText | string)[] {
  const id = one.id.lines.length === 1 && one.id.lines[0]?.length === 1 ? one.id.lines[0][0] : null;
  const ours = id === `${place}` || id === `opt_${place}`;
  if (id === "link_opened" && one.label.lines[0]?.[0] === OPENED_LINK.label) return [`${place}. `, optionLabel(OPENED_LINK)];
  return [`${place}. `, one.label, ...(ours ? [] : [language() === "zh" ? "（标识 " : " (id ", one.id, language() === "zh" ? "）" : ")"])];
}
