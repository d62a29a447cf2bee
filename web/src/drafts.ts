// What is typed and not sent yet is still there when the page was loaded again. It stays in this tab of the browser, under the person and
// the hold or the session that it is for, and goes when it is sent, when the hold is decided, and at a logout or when somebody else is logged in. Secrets are never kept.

import { useState } from "preact/hooks";
import { isObject } from "./holds/schema";
import { live } from "./live";
import { useMe } from "./who";
import type { Json, JsonObject } from "./wire";

const PREFIX = "holdpoint.draft ";
// After a decision there is nothing left to answer, but still something to say.
const COMMENT = "comment";

// Storage can be switched off or full; a draft then lasts as long as the page.
const drafts = new Map<string, string>();
try {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) drafts.set(key, sessionStorage.getItem(key) ?? "");
} catch {}

function keep(key: string, text: string): void {
  text === "" ? drafts.delete(key) : drafts.set(key, text);
  try {
    text === "" ? sessionStorage.removeItem(key) : sessionStorage.setItem(key, text);
  } catch {}
}

/** Like `useState`, for a text. `of`: the hold or the session; `what`: which of its texts. What is secret is not kept. */
export function useDraft(of: string, what: string, secret = false): [string, (text: string) => void] {
  const key = `${PREFIX}${useMe().id} ${of} ${what}`;
  const [text, setText] = useState(drafts.get(key) ?? "");
  return [
    text,
    (text) => {
      keep(key, secret ? "" : text);
      setText(text);
    },
  ];
}

export function useCommentDraft(hold: string): [string, (text: string) => void] {
  return useDraft(hold, COMMENT);
}

/** Forgets what was typed to answer the hold, or everything. */
export function dropDrafts(of?: string): void {
  for (const key of [...drafts.keys()]) if (of === undefined || (key.includes(` ${of} `) && !key.endsWith(COMMENT))) keep(key, "");
}

/** Forgets what others typed in this tab before they logged out in another one. */
export function dropDraftsOfOthers(person: string): void {
  for (const key of [...drafts.keys()]) if (!key.startsWith(`${PREFIX}${person} `)) keep(key, "");
}

const looked = new Set<string>();
live.watch(() => {
  for (const key of [...drafts.keys()]) {
    const of = key.split(" ").at(-2) ?? "";
    const hold = live.known(of);
    if (hold === "gone" || (typeof hold === "object" && hold.state !== "pending")) dropDrafts(of);
    // The list has only what waits. What was decided while the page was closed has to be asked for.
    if (hold !== "loading" || !live.listed || !of.startsWith("hold_") || key.endsWith(COMMENT) || looked.has(of)) continue;
    looked.add(of);
    void live.read(of);
  }
});

/** Whether what the schema describes may hold a secret, at any depth. */
export function mayBeSecret(schema: Json | undefined): boolean {
  return JSON.stringify(schema ?? null).includes('"writeOnly":true');
}

/** Whether a member of what the schema describes surely holds no secret. Where other keywords than `properties` may say of it that it does, none is sure. */
export function isOpen(schema: JsonObject, name: string): boolean {
  const { properties, ...others } = schema;
  if (!isObject(properties) || mayBeSecret(others)) return false;
  // A reference can lead anywhere.
  if (mayBeSecret(properties) && /"\$(dynamic|recursive)?ref":/i.test(JSON.stringify(schema))) return false;
  return !mayBeSecret(properties[name]);
}
