// Reading a JSON Schema just far enough to draw a form. What a field may hold is judged by the server; here only what would
// not even be the right type is caught early, so that the message stands next to the field.

import { t } from "../i18n";
import type { Json, JsonObject } from "../wire";

export type FieldKind = "text" | "long" | "secret" | "number" | "integer" | "boolean" | "enum" | "many" | "json";

export interface Field {
  name: string;
  title: string;
  description: string | null;
  required: boolean;
  kind: FieldKind;
  /** The values of an `enum` or `many` field. */
  values: Json[];
  suggested: Json | undefined;
  /** A calendar in place of a plain line. */
  dated: boolean;
}

/** What a person has put in so far: text for most kinds, a set of picked positions for `many`. */
export type Draft = string | ReadonlySet<number>;

export function isObject(value: Json | undefined): value is JsonObject {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** The fields of an object schema, or null when there is nothing to draw a field for. */
export function fieldsOf(schema: JsonObject): Field[] | null {
  const properties = schema["properties"];
  if (!isObject(properties) || Object.keys(properties).length === 0) return null;
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  // JSON objects have no order of their own, but the list of what is required does: it is the order in which its author thought.
  const order = [...required.filter((name) => typeof name === "string" && name in properties), ...Object.keys(properties)];
  return [...new Set(order as string[])].map((name) => {
    const property = properties[name];
    return field(name, isObject(property) ? property : {}, required.includes(name));
  });
}

function field(name: string, schema: JsonObject, required: boolean): Field {
  const items = schema["items"];
  const listed = schema["type"] === "array" && isObject(items) ? items["enum"] : schema["enum"];
  const values = Array.isArray(listed) ? listed : [];
  return {
    name,
    title: typeof schema["title"] === "string" ? schema["title"] : name,
    description: typeof schema["description"] === "string" ? schema["description"] : null,
    required,
    kind: kindOf(schema, values),
    values,
    suggested: schema["default"],
    dated: schema["format"] === "date",
  };
}

function kindOf(schema: JsonObject, values: Json[]): FieldKind {
  const declared = schema["type"];
  // ["string", "null"] is a text that may be left out.
  const type = Array.isArray(declared) ? declared.find((one) => one !== "null") : declared;
  if (schema["writeOnly"] === true && (type === "string" || type === undefined)) return "secret";
  if (type === "array") return values.length > 0 ? "many" : "json";
  if (values.length > 0) return "enum";
  if (type === "number" || type === "integer" || type === "boolean") return type;
  if (type === "string") {
    const most = schema["maxLength"];
    const long = schema["format"] === "textarea" || (typeof most === "number" && most > 200);
    return long ? "long" : "text";
  }
  return "json";
}

export function emptyDraft(field: Field): Draft {
  return field.kind === "many" ? new Set<number>() : "";
}

/** The draft that stands for a value; used for a suggested one. */
export function draftOf(field: Field, value: Json): Draft {
  if (field.kind === "many") {
    const picked = Array.isArray(value) ? value : [];
    return new Set(field.values.flatMap((one, at) => (picked.some((other) => same(one, other)) ? [at] : [])));
  }
  if (field.kind === "enum") return String(field.values.findIndex((one) => same(one, value)));
  if (field.kind === "json") return JSON.stringify(value, null, 2);
  return typeof value === "string" ? value : JSON.stringify(value);
}

function same(a: Json, b: Json): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

export type Read = { value: Json | undefined } | { error: string };

/** The value that a draft stands for: undefined when left empty, or what is wrong with it. */
export function read(field: Field, draft: Draft): Read {
  if (typeof draft !== "string") {
    if (draft.size === 0 && !field.required) return { value: undefined };
    return { value: field.values.filter((_, at) => draft.has(at)) };
  }
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
    case "json":
      return readJson(draft);
    default:
      return { value: draft };
  }
}

export function readJson(text: string): { value: Json } | { error: string } {
  try {
    return { value: JSON.parse(text) as Json };
  } catch (error) {
    return { error: t("fill.not_json", { error: error instanceof Error ? error.message : String(error) }) };
  }
}

/** Which field a server's `field` names: it may be a bare name, a path or a JSON pointer into the answer. */
export function namedField(fields: Field[], named: string | undefined): string | null {
  if (!named) return null;
  const steps = named.split(/[/.]/).filter((step) => step !== "" && step !== "answer" && step !== "fill");
  const first = steps[0]?.replace(/~1/g, "/").replace(/~0/g, "~");
  return fields.find((field) => field.name === first || field.name === named)?.name ?? null;
}
