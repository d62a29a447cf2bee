// Arguments and context, arranged for drawing: every value has its path, however deep it lies. A text with lines of its own, in a
// language that we colour, or too long to be read in passing stands apart in a frame of its own; all else is one list.

import { isLong } from "../folding";
import { bytesOf, exact } from "../foreign_spans";
import { codeOf, type Code } from "../highlight";
import type { ForeignText, Span, ViewField, ViewPart } from "../wire";
import { join } from "./worded";

export type FieldsPart = Extract<ViewPart, { type: "fields" }>;
/** A name in an object, or a place in a list, counted from 1. */
export type Step = ForeignText | number;

/** A text in a frame of its own. */
export interface ApartText {
  path: Step[];
  text: ForeignText;
  code: Code | null;
  fold: string;
}

/** A line of the list. */
export interface FieldLine {
  spans: Span[];
  colours: (string | undefined)[];
}

export interface ArrangedFields {
  lines: FieldLine[];
  /** Of the list. */
  bytes: number;
  fold: string;
  apart: ApartText[];
}

// A longer path would be cut in a caption; its text stays in the list, under all of its names.
const PATH_BYTES_MOST = 160;
// A text of this many bytes or lines stands apart where a reader expects few of them: at the top, and in what a coding agent says.
const BYTES_IN_LIST = 60;
const DEPTH_APART = 1;

interface PlacedField {
  field: ViewField;
  path: Step[];
  apart: ApartText | null;
}

/** `foldOf` names the fold of a text that is shown elsewhere on the card, too: opened there, it is opened here. */
export function arrange(part: FieldsPart, at: string, foldOf: (path: Step[]) => string | null = () => null): ArrangedFields {
  const fields = placedFields(part, at, foldOf);
  const lines = topLevels(fields).flatMap((fields) => (fields.some(({ field, apart }) => apart === null && field.kind !== "group") ? fields.flatMap(fieldLines) : []));
  return { lines, bytes: bytesOf(lines.map((line) => line.spans)), fold: at, apart: fields.flatMap(({ apart }) => apart ?? []) };
}

function placedFields(part: FieldsPart, at: string, foldOf: (path: Step[]) => string | null): PlacedField[] {
  const trail: Step[] = [];
  // How many elements of a list came so far, by depth.
  const counts: number[] = [];
  return part.fields.map((field) => {
    const { depth, name, text } = field;
    trail.length = depth;
    counts.length = depth + 1;
    counts[depth] = (counts[depth] ?? 0) + 1;
    trail[depth] = name ?? counts[depth];
    const path = [...trail];
    const code = codeIn(field);
    const apart = text !== null && standsApart(field, text, path, code) ? { path, text, code, fold: foldOf(path) ?? `${at}/${keyOf(path)}` } : null;
    return { field, path, apart };
  });
}

function codeIn(field: ViewField): Code | null {
  if (field.kind !== "text" || field.name === null || field.text === null) return null;
  return codeOf(exact(field.name), exact(field.text));
}

function standsApart(field: ViewField, text: ForeignText, path: Step[], code: Code | null): boolean {
  if (field.kind !== "text" || path.reduce((sum: number, step) => sum + (typeof step === "number" ? 4 : step.bytes), 0) > PATH_BYTES_MOST) return false;
  if (isLong(text)) return true;
  if (field.name === null) return false;
  return code !== null || (field.depth <= DEPTH_APART && (text.lines.length > 1 || text.bytes > BYTES_IN_LIST));
}

/** As in a JSON pointer. */
function keyOf(path: Step[]): string {
  return path.map((step) => (typeof step === "number" ? `${step}` : exact(step).replace(/~/g, "~0").replace(/\//g, "~1"))).join("/");
}

/** Each value of the top with all that is in it. */
function topLevels(fields: PlacedField[]): PlacedField[][] {
  const found: PlacedField[][] = [];
  for (const one of fields) {
    if (one.field.depth === 0) found.push([one]);
    else found.at(-1)?.push(one);
  }
  return found;
}

/** Quoted, so that "1" and 1, "true" and true look different. A text of several lines has a bar before each; one that stands apart, an arrow to
 *  where: code stands before the list. */
function fieldLines({ field, apart }: PlacedField): FieldLine[] {
  const indent = "  ".repeat(field.depth);
  const name: Piece[] = [[undefined, indent], ...(field.name ? ([["hl-name", field.name], [undefined, ":"]] as Piece[]) : ([[undefined, "-"]] as Piece[]))];
  const { text } = field;
  if (text === null) return [lineOf(name)];
  if (apart !== null) return [lineOf([...name, ["hl-note", apart.code === null ? " ↓" : " ↑"]])];
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
