// Arguments as JSON: the bytes that a person approves, and the comparison with what came back.

import type { JsonObject } from "./hold.js";

/** Stands in the server's replies where a tool's schema marks a value as secret. */
const SECRET = "[secret]";

/** Refuses what would come back as something else, such as a Date or a Map. */
export function mustBeJson(value: unknown, where: string): void {
  if (value === null || typeof value === "boolean") return;
  if (typeof value === "string") {
    if (!value.isWellFormed()) throw new TypeError(`${where} holds half a character`);
    return;
  }
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new TypeError(`${where} is ${value}, which JSON cannot say`);
    return;
  }
  if (Array.isArray(value)) {
    value.forEach((item, at) => mustBeJson(item, `${where}[${at}]`));
    return;
  }
  if (isObject(value)) {
    for (const [name, item] of Object.entries(value)) {
      // A property that is undefined is one that was not given.
      if (item !== undefined) mustBeJson(item, `${where}.${name}`);
    }
    return;
  }
  const kind = typeof value === "object" ? (value as object).constructor?.name : typeof value;
  throw new TypeError(`${where} is a ${kind}; a person approves JSON, so pass text, numbers, lists and plain objects`);
}

export function isObject(value: unknown): value is JsonObject {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** The same text for the same value, so that a repeated request is the same request. */
export function encode(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) => {
    if (!isObject(item)) return item;
    return Object.fromEntries(Object.entries(item).sort(([one], [two]) => (one < two ? -1 : 1)));
  });
}

/** A copy that nobody else can change. */
export function copy<T>(value: T): T {
  return JSON.parse(encode(value)) as T;
}

export function same(one: unknown, two: unknown): boolean {
  return encode(one) === encode(two);
}

/** The same, where a reply may show `[secret]` in a secret's place. */
export function sameButSecrets(sent: unknown, shown: unknown): boolean {
  if (shown === SECRET) return true;
  if (isObject(sent) && isObject(shown)) {
    const names = Object.keys(sent);
    return (
      names.length === Object.keys(shown).length &&
      names.every((name) => Object.hasOwn(shown, name) && sameButSecrets(sent[name], shown[name]))
    );
  }
  if (Array.isArray(sent) && Array.isArray(shown)) {
    return sent.length === shown.length && sent.every((item, at) => sameButSecrets(item, shown[at]));
  }
  return same(sent, shown);
}

/** Whether a secret is in there, or a number that JavaScript would round. */
export function isPartial(value: unknown): boolean {
  if (typeof value === "number") return !Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER;
  if (Array.isArray(value)) return value.some(isPartial);
  if (isObject(value)) return Object.values(value).some(isPartial);
  return value === SECRET;
}

export function jsonKind(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "list" : typeof value;
}

/** The key of one call in one run. A restart makes the same; the same call again in the same run does too. */
export async function derivedKey(tool: string, args: JsonObject, run: string): Promise<string> {
  const bytes = new TextEncoder().encode(encode([tool, args, run]));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return "holdpoint-" + Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
