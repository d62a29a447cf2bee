// JSON text by its pieces, each as it is written. A browser that parses 1.10 or 12345678901234567890 and writes it again has changed
// it; what is only cut out and put back has not. All texts here are sound JSON.

import type { Json } from "../wire";

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:]/g;

export interface RawMember {
  name: string;
  /** The name with its quotes. */
  written: string;
  raw: string;
}

/** The members of an object, or with empty names the elements of a list, in their order. */
export function membersOf(raw: string): RawMember[] {
  const found: RawMember[] = [];
  let [depth, from, end, written] = [0, -1, 0, '""'];
  for (const match of raw.matchAll(TOKEN)) {
    const token = match[0];
    const closes = token === "}" || token === "]";
    if (depth === 1 && (token === ":" || token === "," || closes)) {
      const piece = from < 0 ? null : raw.slice(from, end);
      if (token === ":") written = piece ?? written;
      else if (piece !== null) found.push({ name: JSON.parse(written) as string, written, raw: piece });
      from = -1;
    } else if (depth > 0 && from < 0) from = match.index;
    if (token === "{" || token === "[") depth += 1;
    if (closes) depth -= 1;
    end = match.index + token.length;
  }
  return found;
}

export function memberAt(raw: string, ...names: string[]): string | null {
  let at: string | null = raw;
  for (const name of names) at = (at === null ? null : membersOf(at).find((member) => member.name === name)?.raw) ?? null;
  return at;
}

export const valueOf = (raw: string): Json => JSON.parse(raw) as Json;

/** On lines of its own, indented; every value as it is written. */
export function pretty(raw: string): string {
  const tokens = raw.match(TOKEN) ?? [];
  let [out, indent] = ["", ""];
  tokens.forEach((token, at) => {
    const [before, after] = [tokens[at - 1], tokens[at + 1]];
    if (token === "}" || token === "]") {
      const empty = before === "{" || before === "[";
      if (!empty) out += `\n${(indent = indent.slice(2))}`;
      out += token;
    } else if (token === "{" || token === "[") {
      const empty = after === "}" || after === "]";
      out += empty ? token : `${token}\n${(indent += "  ")}`;
    } else out += token === "," ? `,\n${indent}` : token === ":" ? ": " : token;
  });
  return out;
}

/** Without the spaces between. */
export const minified = (raw: string): string => (raw.match(TOKEN) ?? []).join("");
