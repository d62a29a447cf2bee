// How a client tool is carried out on this page, by the words of its name: `user_confirm`, `pick_file`, `clipboard.read`. A tool that
// says nothing of the kind, or that was guessed wrongly, is answered by hand.

import type { Hold, Json } from "../../wire";
import { isObject } from "../schema";

export type Interaction = "confirm" | "input" | "select" | "file" | "copy" | "paste" | "location" | "by_hand";

export interface Pick {
  /** What the agent gets. */
  value: string;
  label: string;
}

export function interactionOf(hold: Hold): Interaction {
  const words = wordsOf(hold.call?.tool ?? "");
  const says = (...any: string[]) => any.some((word) => words.has(word));
  if (says("clipboard")) return says("write", "copy", "set", "put") ? (textToCopy(hold) === null ? "by_hand" : "copy") : "paste";
  if (says("geolocation", "location", "geolocate", "position")) return "location";
  if (says("file", "files") && says("pick", "choose", "select", "open", "upload", "user", "browser")) return "file";
  if (says("confirm", "confirmation")) return "confirm";
  if (says("select", "choose", "pick", "choice", "option")) return picksOf(hold).length > 0 ? "select" : "by_hand";
  if (says("input", "prompt") && says("user", "text", "ask", "get", "browser")) return "input";
  return "by_hand";
}

/** "pickFile", "user_confirm" and "office__clipboard.read" in lower-case words. */
function wordsOf(name: string): Set<string> {
  const parts = name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").split(/[^A-Za-z0-9]+/);
  return new Set(parts.map((part) => part.toLowerCase()).filter((part) => part !== ""));
}

// More are no list to choose from with a finger.
const PICKS_MOST = 100;

/** Options are texts, or objects that name their value and label. */
export function picksOf(hold: Hold): Pick[] {
  const args = argumentsOf(hold);
  const listed = args["options"] ?? args["choices"] ?? args["items"];
  if (!Array.isArray(listed) || listed.length > PICKS_MOST) return [];
  const picks = listed.map(pickOf);
  return picks.every((pick) => pick !== null) ? picks : [];
}

function pickOf(option: Json): Pick | null {
  if (typeof option === "string" || typeof option === "number") return { value: String(option), label: String(option) };
  if (!isObject(option)) return null;
  const value = option["value"] ?? option["id"] ?? option["label"];
  const label = option["label"] ?? option["title"] ?? value;
  if (typeof value !== "string" && typeof value !== "number") return null;
  return { value: String(value), label: typeof label === "string" ? label : String(value) };
}

export function textToCopy(hold: Hold): string | null {
  const args = argumentsOf(hold);
  const text = args["text"] ?? args["content"] ?? args["value"];
  return typeof text === "string" && text !== "" ? text : null;
}

/** Whether a rough position is enough. */
export function wantsRough(hold: Hold): boolean {
  const wanted = argumentsOf(hold)["accuracy"];
  return wanted === "city" || wanted === "coarse" || wanted === "low";
}

function argumentsOf(hold: Hold): Record<string, Json> {
  const args = hold.call?.arguments;
  return isObject(args) ? args : {};
}
