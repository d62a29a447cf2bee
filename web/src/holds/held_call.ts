// What the edit form is made of: the arguments as the server writes them, and what the tool takes.

import { useEffect, useState } from "preact/hooks";
import * as api from "../api";
import type { Hold, Json, JsonObject } from "../wire";
import { memberAt } from "./raw_json";

export interface HeldCall {
  /** JSON text of an object. */
  raw: string;
  /** Null where the server does not know the tool: the values that are there say enough for a form. */
  schema: JsonObject | null;
  /** The server could not be asked: nobody knows what of the values is secret. */
  unread: boolean;
}

/** Null until both are there; "unsafe" where they cannot be had as they are written, and a browser would write them differently. */
export function useHeldCall(hold: Hold): HeldCall | "unsafe" | null {
  const [held, setHeld] = useState<HeldCall | "unsafe" | null>(null);
  useEffect(() => {
    let left = false;
    const tool = api.heldTool(hold.id).then(({ tool }) => ({ schema: tool?.schema ?? null, unread: false }), () => ({ schema: null, unread: true }));
    const text = api.holdText(hold.id).then((text) => argumentsIn(text, hold), () => parsedOnly(hold));
    void Promise.all([text, tool]).then(([raw, tool]) => left || setHeld(raw === null ? "unsafe" : { raw, ...tool }));
    return () => {
      left = true;
    };
  }, [hold.id, hold.digest]);
  return held;
}

function argumentsIn(text: string, hold: Hold): string | null {
  // Of another version than the one that is shown nothing may be edited.
  if ((JSON.parse(text) as Hold).digest !== hold.digest) return parsedOnly(hold);
  return memberAt(text, "call", "arguments") ?? parsedOnly(hold);
}

function parsedOnly(hold: Hold): string | null {
  const args = hold.call?.arguments ?? {};
  return hasUnsafeNumber(args) ? null : JSON.stringify(args);
}

/** A browser may write any number in another way: 10.0, 12345678901234567890. */
function hasUnsafeNumber(value: Json): boolean {
  if (typeof value === "number") return true;
  if (value === null || typeof value !== "object") return false;
  return Object.values(value).some(hasUnsafeNumber);
}
