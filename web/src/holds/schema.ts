// Reading a JSON Schema just far enough to draw a form. What a field may hold is judged by the server; here only what would
// not even be the right type is caught early, so that the message stands next to the field.

import { t } from "../i18n";
import type { FieldFault, Json, JsonObject } from "../wire";

export type FieldKind = "text" | "long" | "file" | "secret" | "email" | "date" | "moment" | "number" | "integer" | "boolean" | "enum" | "many" | "group" | "list" | "json" | "written";

export interface Field {
  name: string;
  title: string;
  description: string | null;
  required: boolean;
  kind: FieldKind;
  /** The values of an `enum` or `many` field. */
  values: Json[];
  suggested: Json | undefined;
  /** Of a group. */
  fields: Field[];
  /** Of a list: what each item is. */
  item: Field | null;
  /** It is not said whether it may be left out. */
  quiet?: boolean;
}

/** What a person has put in so far: text for most kinds, a set of picked positions, the fields of a group, the items of a list. */
export type Draft = string | ReadonlySet<number> | GroupDraft | ListDraft;
/** `from`: the JSON text that it was read from, where there was one. */
export interface GroupDraft {
  group: Record<string, Draft>;
  from?: string;
}
export interface ListDraft {
  list: Draft[];
  from?: string;
}

// A deeper form is a document: it is drawn as JSON.
const DEPTH_MOST = 4;

export function isObject(value: Json | undefined): value is JsonObject {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** The fields of an object schema, or null when there is nothing to draw a field for. */
export function fieldsOf(schema: JsonObject, depth = 0): Field[] | null {
  const properties = schema["properties"];
  if (!isObject(properties) || Object.keys(properties).length === 0) return null;
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  // JSON objects have no order of their own, but the list of what is required does: it is the order in which its author thought.
  const order = [...required.filter((name) => typeof name === "string" && name in properties), ...Object.keys(properties)];
  return [...new Set(order as string[])].map((name) => {
    const property = properties[name];
    return fieldOf(name, isObject(property) ? property : {}, required.includes(name), depth);
  });
}

export function fieldOf(name: string, schema: JsonObject, required: boolean, depth: number): Field {
  const items = schema["items"];
  const isArray = schema["type"] === "array";
  const listed = isArray && isObject(items) ? items["enum"] : schema["enum"];
  const values = Array.isArray(listed) ? listed : [];
  const inner = depth < DEPTH_MOST ? fieldsOf(schema, depth + 1) : null;
  const item = isArray && values.length === 0 && isObject(items) && depth < DEPTH_MOST ? fieldOf(name, items, true, depth + 1) : null;
  const drawable = item !== null && item.kind !== "json" && item.kind !== "list" ? item : null;
  return {
    name,
    title: typeof schema["title"] === "string" ? schema["title"] : name,
    description: typeof schema["description"] === "string" ? schema["description"] : null,
    required,
    kind: kindOf(schema, values, inner, drawable),
    values,
    suggested: schema["default"],
    fields: inner ?? [],
    item: drawable,
  };
}

function kindOf(schema: JsonObject, values: Json[], inner: Field[] | null, item: Field | null): FieldKind {
  const declared = schema["type"];
  // ["string", "null"] is a text that may be left out.
  const type = Array.isArray(declared) ? declared.find((one) => one !== "null") : declared;
  if (schema["writeOnly"] === true && (type === "string" || type === undefined)) return "secret";
  if (type === "array") return values.length > 0 ? "many" : item ? "list" : "json";
  if (values.length > 0) return "enum";
  if (type === "number" || type === "integer" || type === "boolean") return type;
  if (type === "string") {
    const format = schema["format"];
    if (format === "date" || format === "email" || format === "file") return format;
    if (typeof schema["contentMediaType"] === "string") return "file";
    if (format === "date-time") return "moment";
    const most = schema["maxLength"];
    const long = format === "textarea" || (typeof most === "number" && most > 200);
    return long ? "long" : "text";
  }
  return type === "object" && inner ? "group" : "json";
}

/** Nothing put in yet, but for what is suggested: that is preselected where it can be seen whole. */
export function emptyDraft(field: Field): Draft {
  if (field.kind === "group") return { group: Object.fromEntries(field.fields.map((one) => [one.name, emptyDraft(one)])) };
  if (field.suggested !== undefined && isPreselected(field)) return draftOf(field, field.suggested);
  if (field.kind === "list") return { list: [] };
  return field.kind === "many" ? new Set<number>() : "";
}

/** A suggestion goes into the field by itself only if it is short and every character of it has an honest picture. */
export function isPreselected(field: Field): boolean {
  if (field.suggested === undefined || field.kind === "secret") return false;
  const text = typeof field.suggested === "string" ? field.suggested : JSON.stringify(field.suggested);
  return text.length <= 200 && /^[\p{L}\p{N}\p{P}\p{S} ]*$/u.test(text) && !/ {4}/.test(text) && !/^ | $/.test(text);
}

/** The draft that stands for a value; used for a suggested one. */
export function draftOf(field: Field, value: Json): Draft {
  if (field.kind === "many") {
    const picked = Array.isArray(value) ? value : [];
    return new Set(field.values.flatMap((one, at) => (picked.some((other) => sameJson(one, other)) ? [at] : [])));
  }
  if (field.kind === "group") return { group: Object.fromEntries(field.fields.map((one) => [one.name, isObject(value) && one.name in value ? draftOf(one, value[one.name] ?? null) : emptyDraft(one)])) };
  const { item } = field;
  if (field.kind === "list" && item) return { list: Array.isArray(value) ? value.map((one) => draftOf(item, one)) : [] };
  if (field.kind === "enum") return String(field.values.findIndex((one) => sameJson(one, value)));
  if (field.kind === "json") return JSON.stringify(value, null, 2);
  return typeof value === "string" ? value : JSON.stringify(value);
}

export function sameJson(a: Json, b: Json): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** A draft of a group, by a name that may be one that every object has. */
export function draftIn(group: Record<string, Draft>, name: string): Draft | undefined {
  return Object.hasOwn(group, name) ? group[name] : undefined;
}

/** What is wrong, by the path of the field: "storage/bucket". */
export type Errors = Record<string, string>;

/** The value that a draft stands for: undefined when left empty. What is wrong goes into `errors`. */
export function read(field: Field, draft: Draft, path: string, errors: Errors): Json | undefined {
  if (draft instanceof Set) {
    if (draft.size === 0 && !field.required) return undefined;
    return field.values.filter((_, at) => draft.has(at));
  }
  if (typeof draft === "object" && "group" in draft) return readGroup(field, draft.group, path, errors);
  const { item } = field;
  if (typeof draft === "object" && "list" in draft && item) {
    if (draft.list.length === 0 && !field.required) return undefined;
    return draft.list.map((one, at) => read(item, one, `${path}/${at}`, errors) ?? null);
  }
  const got = readText(field, typeof draft === "string" ? draft : "");
  if (!("error" in got)) return got.value;
  errors[path] = got.error;
  return undefined;
}

function readGroup(field: Field, group: Record<string, Draft>, path: string, errors: Errors): Json | undefined {
  const [value, inner]: [JsonObject, Errors] = [{}, {}];
  for (const one of field.fields) {
    const got = read(one, draftIn(group, one.name) ?? emptyDraft(one), `${path}/${one.name}`, inner);
    if (got !== undefined) value[one.name] = got;
  }
  // A group that may be left out and has nothing in it is left out.
  if (!field.required && Object.keys(value).length === 0) return undefined;
  Object.assign(errors, inner);
  return value;
}

export function readText(field: Field, draft: string): { value: Json | undefined } | { error: string } {
  // Spaces may be part of a secret or of a text, so only the check for "nothing" trims.
  if (draft.trim() === "") return field.required ? { error: t("fill.missing") } : { value: undefined };
  switch (field.kind) {
    case "number":
    case "integer": {
      const number = Number(draft);
      if (!Number.isFinite(number)) return { error: t("fill.not_number") };
      if (field.kind === "integer" && !Number.isSafeInteger(number)) return { error: t("fill.not_integer") };
      return { value: number };
    }
    case "boolean":
      return { value: draft === "true" };
    case "enum":
      return { value: field.values[Number(draft)] };
    case "email":
      return /^[^\s@]+@[^\s@]+$/.test(draft.trim()) ? { value: draft.trim() } : { error: t("fill.email") };
    case "moment": {
      const at = new Date(draft);
      return Number.isNaN(at.getTime()) ? { value: draft } : { value: at.toISOString().replace(".000Z", "Z") };
    }
    case "json":
      return readJson(draft);
    default:
      return { value: draft };
  }
}

/** A moment of a zone, as RFC 3339 has it. */
export function isMoment(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/i.test(text) && !Number.isNaN(Date.parse(text));
}

/** The same moment on the reader's clock, as a field of the browser takes it. */
export function localMoment(text: string): string {
  const at = new Date(text);
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString();
  return local.slice(0, at.getSeconds() === 0 ? 16 : 19);
}

export function readJson(text: string): { value: Json } | { error: string } {
  try {
    return { value: JSON.parse(text) as Json };
  } catch (error) {
    return { error: t("fill.not_json", { error: error instanceof Error ? error.message : String(error) }) };
  }
}

/** The path of the field that a fault is about, or null if no field of the form is drawn for it. */
export function faultPath(fields: Field[], { field, name }: FieldFault): string | null {
  const steps = field.split("/").map((step) => step.replace(/~1/g, "/").replace(/~0/g, "~"));
  if (steps.shift() !== "fill") return null;
  if (name !== undefined) steps.push(name);
  return fields.some((one) => one.name === steps[0]) ? steps.join("/") : null;
}
