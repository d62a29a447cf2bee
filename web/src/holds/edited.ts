// The arguments of a call as fields to edit, and back. A number stays the text that was typed: a parse here would round a large one.

import type { Json } from "../wire";
import { isObject } from "./schema";

export interface ArgumentField {
  name: string;
  kind: "text" | "number" | "yes_no" | "json";
  text: string;
}

/** One for each argument, by the type of its value. */
export function argumentFields(args: Json): ArgumentField[] {
  if (!isObject(args)) return [];
  return Object.entries(args).map(([name, value]) => {
    if (typeof value === "string") return { name, kind: "text", text: value };
    if (typeof value === "number") return { name, kind: "number", text: JSON.stringify(value) };
    if (typeof value === "boolean") return { name, kind: "yes_no", text: String(value) };
    return { name, kind: "json", text: JSON.stringify(value, null, 2) };
  });
}

/** The JSON text of all fields. What is not JSON stays as it is, and is found when the whole is read. */
export function composed(fields: ArgumentField[]): string {
  const value = (field: ArgumentField): string => (field.kind === "text" ? JSON.stringify(field.text) : field.text.trim() === "" ? "?" : field.text.trim());
  return `{${fields.map((field) => `${JSON.stringify(field.name)}: ${value(field)}`).join(", ")}}`;
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

export function hasUnsafeNumber(value: Json): boolean {
  if (typeof value === "number") return Number.isInteger(value) && !Number.isSafeInteger(value);
  if (value === null || typeof value !== "object") return false;
  return Object.values(value).some(hasUnsafeNumber);
}
