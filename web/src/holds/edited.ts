// The arguments of a call as fields to edit, and back to JSON text. What a field is comes from the tool's schema where the server knows
// the tool, and from the values that are there; a value that is not what the schema says stays what it is. What was not touched is
// put back as it was written: its digits, the order of its members, its spaces.

import { t } from "../i18n";
import type { Json, JsonObject } from "../wire";
import { membersOf, pretty, valueOf } from "./raw_json";
import { draftIn, fieldOf, isMoment, isObject, localMoment, readText, sameJson, type Draft, type Errors, type Field } from "./schema";

// Deeper values are documents, and are edited as JSON.
const DEPTH_MOST = 5;
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const WHOLE = /^-?(0|[1-9]\d*)$/;

/** All arguments as one group: those that are there, in their order, and then what the tool takes besides. */
export function argumentsField(raw: string, schema: JsonObject | null): Field {
  const field = fieldFor("", [raw], schema ?? {}, 0);
  const there = new Set(membersOf(raw).map((member) => member.name));
  const needed = schema?.["required"];
  // Without a schema nobody knows what may be left out.
  const fields = field.fields.map((one) => ({ ...one, required: schema === null || (Array.isArray(needed) && needed.includes(one.name)) }));
  return { ...field, kind: "group", fields: [...fields.filter((one) => there.has(one.name)), ...fields.filter((one) => !there.has(one.name))] };
}

/** One field for all of these values: what it is in one item of a list it is in the others. */
function fieldFor(name: string, raws: string[], schema: JsonObject, depth: number): Field {
  const said = fieldOf(name, schema, false, depth);
  const about = [said.title === name ? null : said.title, said.description].filter((one) => one !== null).join("\n");
  const told: Field = { ...said, title: name, description: about === "" ? null : about, suggested: undefined, quiet: true };
  const values = raws.map(valueOf);
  const all = (is: (value: Json) => boolean) => values.length > 0 && values.every(is);
  if (depth < DEPTH_MOST && (values.length === 0 ? told.kind === "group" : values.every(isObject))) {
    const fields = groupFields(raws, schema, depth);
    if (fields.length > 0) return { ...told, kind: "group", fields, item: null };
  }
  if (depth < DEPTH_MOST && told.kind !== "many" && (values.length === 0 ? told.kind === "list" : values.every(Array.isArray))) {
    const items = raws.flatMap((raw) => membersOf(raw).map((item) => item.raw));
    const item = items.length > 0 || told.kind === "list" ? fieldFor(name, items, isObject(schema["items"]) ? schema["items"] : {}, depth + 1) : null;
    if (item !== null && item.kind !== "json" && item.kind !== "list") return { ...told, kind: "list", fields: [], item: { ...item, required: true } };
  }
  const text = told.kind === "text" || told.kind === "long" || told.kind === "file" || told.kind === "secret";
  const kind = text ? "written" : told.kind;
  const plain = kind !== "group" && kind !== "list" && kind !== "json";
  if (plain && (values.length === 0 || all((value) => fits({ ...told, kind }, value)))) return { ...told, kind };
  const other = all(isLinesOfOurs) ? "written" : all((value) => typeof value === "number") ? "number" : all((value) => typeof value === "boolean") ? "boolean" : "json";
  return { ...told, kind: other, values: [], fields: [], item: null };
}

function groupFields(raws: string[], schema: JsonObject, depth: number): Field[] {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const needed = Array.isArray(schema["required"]) ? schema["required"] : [];
  const there = new Map<string, string[]>();
  for (const member of raws.flatMap(membersOf)) there.set(member.name, [...(there.get(member.name) ?? []), member.raw]);
  return [...new Set([...there.keys(), ...Object.keys(properties)])].map((name) => {
    const property = properties[name];
    return { ...fieldFor(name, there.get(name) ?? [], isObject(property) ? property : {}, depth + 1), required: needed.includes(name) };
  });
}

/** A field for text writes every end of a line as a line feed. A text with others is edited as JSON, where they keep their form. */
const isLinesOfOurs = (value: Json): boolean => typeof value === "string" && !value.includes("\r");

/** Whether the field can show the value, and give it back. */
function fits(field: Field, value: Json): boolean {
  switch (field.kind) {
    case "number":
      return typeof value === "number";
    case "integer":
      return typeof value === "number" && Number.isInteger(value);
    case "boolean":
      return typeof value === "boolean";
    case "enum":
      return field.values.some((one) => sameJson(one, value));
    case "many":
      return Array.isArray(value) && value.every((one) => field.values.some((other) => sameJson(one, other)));
    case "email":
      return typeof value === "string" && /^[^\s@]+@[^\s@]+$/.test(value);
    case "date":
      return typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value));
    case "moment":
      return typeof value === "string" && isMoment(value);
    default:
      return isLinesOfOurs(value);
  }
}

/** What stands in the field for a value as it is written; nothing for one that is not there. */
export function draftFor(field: Field, raw: string | undefined): Draft {
  if (field.kind === "group") {
    const members = raw === undefined ? [] : membersOf(raw);
    const group = Object.fromEntries(field.fields.map((one) => [one.name, draftFor(one, members.find((member) => member.name === one.name)?.raw)]));
    return raw === undefined ? { group } : { group, from: raw };
  }
  const { item } = field;
  if (field.kind === "list" && item) return raw === undefined ? { list: [] } : { list: membersOf(raw).map((one) => draftFor(item, one.raw)), from: raw };
  if (field.kind === "many") {
    const picked = raw === undefined ? [] : (valueOf(raw) as Json[]);
    return new Set(field.values.flatMap((one, at) => (picked.some((other) => sameJson(one, other)) ? [at] : [])));
  }
  if (raw === undefined) return "";
  if (field.kind === "json") return pretty(raw);
  if (field.kind === "number" || field.kind === "integer" || field.kind === "boolean") return raw;
  const value = valueOf(raw);
  if (field.kind === "enum") return `${field.values.findIndex((one) => sameJson(one, value))}`;
  return field.kind === "moment" ? localMoment(value as string) : (value as string);
}

/** The JSON text of a draft, or nothing where it is left out. `raw` is what it was, and `must` says that it cannot be left out. */
export function composed(field: Field, draft: Draft, raw: string | undefined, path: string, errors: Errors, must: boolean): string | undefined {
  if (typeof draft === "object" && "group" in draft) return composedGroup(field, draft, path, errors, must);
  if (typeof draft === "object" && "list" in draft) return composedList(field, draft, path, errors, must);
  if (raw !== undefined && sameDraft(draft, draftFor(field, raw))) return raw;
  if (draft instanceof Set) return draft.size === 0 && raw === undefined && !must ? undefined : JSON.stringify(field.values.filter((_, at) => draft.has(at)));
  const text = typeof draft === "string" ? draft : "";
  // An empty text is a text.
  if (field.kind === "written") return text === "" && raw === undefined && !must ? undefined : JSON.stringify(text);
  if (text.trim() === "") {
    if (must) errors[path] = t("fill.missing");
    return undefined;
  }
  if (field.kind === "number" || field.kind === "integer") {
    const typed = text.trim();
    if (field.kind === "integer" ? WHOLE.test(typed) : NUMBER.test(typed)) return typed;
    errors[path] = t(field.kind === "integer" ? "fill.not_integer" : "fill.not_number");
    return undefined;
  }
  const got = readText({ ...field, required: false }, text);
  if ("error" in got) errors[path] = got.error;
  // As it was typed: a parse would change its numbers.
  else return field.kind === "json" ? text.trim() : JSON.stringify(got.value);
  return undefined;
}

function composedGroup(field: Field, draft: { group: Record<string, Draft>; from?: string }, path: string, errors: Errors, must: boolean): string | undefined {
  const before = draft.from === undefined ? [] : membersOf(draft.from);
  const under = (name: string) => (path === "" ? name : `${path}/${name}`);
  const now = before.flatMap((member) => {
    const one = field.fields.find((one) => one.name === member.name);
    const inner = draftIn(draft.group, member.name);
    if (!one) return [member];
    // The arguments themselves have a button to leave one out.
    const raw = inner === undefined ? undefined : composed(one, inner, member.raw, under(member.name), errors, one.required || path === "");
    return raw === undefined ? [] : [{ ...member, raw }];
  });
  const added = field.fields.flatMap((one) => {
    const inner = draftIn(draft.group, one.name);
    if (inner === undefined || before.some((member) => member.name === one.name)) return [];
    const raw = composed(one, inner, undefined, under(one.name), errors, path === "");
    return raw === undefined ? [] : [{ name: one.name, written: JSON.stringify(one.name), raw }];
  });
  if (draft.from !== undefined && added.length === 0 && now.length === before.length && now.every((member, at) => member.raw === before[at]?.raw)) return draft.from;
  const members = [...now, ...added];
  if (members.length === 0 && draft.from === undefined && !must) return undefined;
  return `{${members.map((member) => `${member.written}: ${member.raw}`).join(", ")}}`;
}

function composedList(field: Field, draft: { list: Draft[]; from?: string }, path: string, errors: Errors, must: boolean): string | undefined {
  const { item } = field;
  const before = draft.from === undefined ? [] : membersOf(draft.from).map((one) => one.raw);
  if (item === null || (draft.list.length === 0 && draft.from === undefined && !must)) return undefined;
  const drafts = before.map((raw) => draftFor(item, raw));
  const now = draft.list.map((one, at) => {
    // Items before it may have been taken out.
    const was = sameDraft(one, drafts[at]) ? at : drafts.findIndex((other) => sameDraft(one, other));
    return composed(item, one, before[was], `${path}/${at}`, errors, true) ?? "null";
  });
  if (draft.from !== undefined && now.length === before.length && now.every((raw, at) => raw === before[at])) return draft.from;
  return `[${now.join(", ")}]`;
}

/** Of two that are no groups or lists. */
function sameDraft(one: Draft, other: Draft | undefined): boolean {
  if (one instanceof Set && other instanceof Set) return one.size === other.size && [...one].every((at) => other.has(at));
  return one === other;
}

/** Why a text is not a JSON object; null if it is one. */
export function objectProblem(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value as Json) ? null : typeof value;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

// What the server puts in place of a value that its schema calls secret.
const PLACEHOLDER = "[secret]";

export function hasPlaceholder(value: Json): boolean {
  if (value === null || typeof value !== "object") return value === PLACEHOLDER;
  return Object.values(value).some(hasPlaceholder);
}
