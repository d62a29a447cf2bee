// An edit of a file that is in the arguments as old and new text, as MCP servers and coding agents take it: shown as a diff.

import { bytesOf, exact } from "../foreign_spans";
import type { Hold, Json, JsonObject } from "../wire";
import type { Step } from "./arranged";
import { compare, type DiffRow } from "./compare";
import { headlineOf } from "./headline";
import { isObject } from "./schema";

const PATHS = ["path", "file_path"];
const TEXTS = ["oldText,newText", "old_string,new_string", "old_str,new_str"];
const NAMES = new Set(TEXTS.flatMap((pair) => pair.split(",")));

export interface ArgumentDiff {
  rows: DiffRow[];
  bytes: number;
}

/** Its fold on the card; the old and the new texts are opened with it. */
export const DIFF_FOLD = "diff";

// Comparing takes time, and is bounded by it: the same hold is compared once.
const known = new WeakMap<Hold, ArgumentDiff | null>();

export function argumentDiff(hold: Hold): ArgumentDiff | null {
  const before = known.get(hold);
  if (before !== undefined) return before;
  const rows = diffRows(hold);
  const found = rows === null ? null : { rows, bytes: bytesOf(rows.map((row) => row.line)) };
  known.set(hold, found);
  return found;
}

/** Whether the arguments are one path, which the headline names, and old and new texts. Any other word beside them may be what the tool takes. */
export function diffSaysAll(hold: Hold): boolean {
  const input = hold.call?.arguments;
  if (!isObject(input) || argumentDiff(hold) === null) return false;
  const isPair = (edit: Json) => isObject(edit) && TEXTS.includes(Object.keys(edit).join(","));
  const [path, ...rest] = Object.keys(input);
  if (path === undefined || !PATHS.includes(path) || typeof input[path] !== "string") return false;
  const edits = input["edits"];
  return rest.join(",") === "edits" ? Array.isArray(edits) && edits.every(isPair) : TEXTS.includes(rest.join(","));
}

/** Whether the text at a path of the arguments is one of those that the diff is made of. */
export function isInDiff(hold: Hold, path: Step[]): boolean {
  const top = hold.call?.arguments;
  if (!isObject(top) || argumentDiff(hold) === null) return false;
  const names = path.map((step) => (typeof step === "number" ? step : exact(step)));
  const last = names.pop();
  const before = [...(isHook(top) ? ["input"] : []), ...(Array.isArray(inputOf(top)["edits"]) ? ["edits", "#"] : [])];
  return typeof last === "string" && NAMES.has(last) && before.length === names.length && before.every((name, at) => (name === "#" ? typeof names[at] === "number" : names[at] === name));
}

function diffRows(hold: Hold): DiffRow[] | null {
  const top = hold.call?.arguments;
  if (!isObject(top) || headlineOf(hold).verb !== "edit_files" || hold.preview?.diff) return null;
  const input = inputOf(top);
  const listed = Array.isArray(input["edits"]) ? input["edits"].filter(isObject) : [input];
  const pairs = listed.flatMap((edit) => {
    const [before, after] = [edit["oldText"] ?? edit["old_string"] ?? edit["old_str"], edit["newText"] ?? edit["new_string"] ?? edit["new_str"]];
    return typeof before === "string" && typeof after === "string" ? [[before, after] as const] : [];
  });
  return pairs.length === 0 ? null : pairs.flatMap(([before, after]) => compare(before, after));
}

/** What an agent said, where our hooks put it: only if nothing else stands beside it. */
function inputOf(top: JsonObject): JsonObject {
  return isHook(top) ? (top["input"] as JsonObject) : top;
}

function isHook(top: JsonObject): boolean {
  return Object.keys(top).every((key) => ["cwd", "input", "files", "files_in"].includes(key)) && isObject(top["input"]);
}
