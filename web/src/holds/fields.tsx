// Arguments and context: values with their names. A text with lines of its own, or in a language that we colour, stands in a frame
// of its own; all else is one list, in which "1" and 1 look different.

import { Caption, Chip, exact, Foreign, isLong, Lines } from "../foreign";
import { codeOf, type Code } from "../highlight";
import { t, word } from "../i18n";
import type { ForeignText, Span, ViewField, ViewPart } from "../wire";
import { join } from "./worded";

type FieldsPart = Extract<ViewPart, { type: "fields" }>;
type StandingField = ViewField & { text: ForeignText; name: ForeignText };

/** The keys of texts in it that are folded. */
export function longFields(part: FieldsPart, at: number): string[] {
  return part.fields.flatMap((field, index) => (stands(field) && isLong(field.text) ? [`${at}.${index}`] : []));
}

function codeIn(field: ViewField): Code | null {
  if (field.kind !== "text" || field.name === null || field.text === null) return null;
  return codeOf(exact(field.name), exact(field.text));
}

function stands(field: ViewField): field is StandingField {
  const { text } = field;
  if (field.depth > 0 || field.kind !== "text" || field.name === null || text === null) return false;
  return text.lines.length > 1 || text.bytes > 60 || codeIn(field) !== null;
}

export function Fields({ part, at }: { part: FieldsPart; at: string }) {
  const lines = part.fields.filter((field) => !stands(field)).flatMap(fieldLines);
  return (
    <>
      {lines.length > 0 ? (
        <figure class="fx">
          <Caption label={word("view.label", part.label)} by={part.by} />
          <Lines lines={lines.map((line) => line.spans)} colours={lines.map((line) => line.colours)} marks={[]} />
        </figure>
      ) : null}
      {part.fields.map((field, index) => (stands(field) ? <Standing key={index} field={field} by={part.by} fold={`${at}.${index}`} /> : null))}
    </>
  );
}

/** In a frame of its own, with its size and the exact bytes to copy. */
function Standing({ field, by, fold }: { field: StandingField; by: string; fold: string }) {
  const code = codeIn(field);
  const name = exact(field.name);
  const label = (
    <>
      {code ? `${t(`code.${code}`)} ` : null}
      {code !== null && name.toLowerCase() === code ? <span class="sr">{name}</span> : <Chip text={field.name} />}
    </>
  );
  return <Foreign label={label} by={by} text={field.text} fold={fold} code={code} />;
}

interface FieldLine {
  spans: Span[];
  colours: (string | undefined)[];
}

/** Quoted, so that "1" and 1, "true" and true look different. A text of several lines has a bar before each. */
function fieldLines(field: ViewField): FieldLine[] {
  const indent = "  ".repeat(field.depth);
  const name: Piece[] = [[undefined, indent], ...(field.name ? ([["hl-name", field.name], [undefined, ":"]] as Piece[]) : ([[undefined, "-"]] as Piece[]))];
  const { text } = field;
  if (text === null) return [lineOf(name)];
  if (field.kind !== "text") return [lineOf([...name, [undefined, " "], ["hl-num", text]])];
  if (text.lines.length === 1) return [lineOf([...name, [undefined, " "], ["hl-str", '"'], ["hl-str", text], ["hl-str", '"']])];
  return [lineOf(name), ...text.lines.map((line) => lineOf([[undefined, `${indent}  │ `], ["hl-str", { bytes: 0, lines: [line] }]]))];
}

type Piece = [kind: string | undefined, text: ForeignText | string];

function lineOf(pieces: Piece[]): FieldLine {
  const spans = join(pieces.map((piece) => piece[1]));
  // The same pieces, so that the colours are as long as the line.
  const colours = pieces.flatMap(([kind, piece]) => join([piece]).flatMap((span) => Array.from({ length: typeof span === "string" ? span.length : 1 }, () => kind)));
  return { spans, colours };
}
