// Text that a model, a tool or a stranger wrote. It is only ever put in the page as text, and characters that would hide
// or reorder what is read (bidi controls, zero-width characters, control codes, tag characters) are named in its place.
// What a call is comes as parts (`holds/parts.tsx`); longer text of others is drawn by `foreign.tsx`.

import type { ComponentChildren } from "preact";
import { Chip, Quoted } from "./foreign";
import type { Json } from "./wire";

// C0 (but tab and newline) and C1 controls, odd spaces and blanks, soft hyphen, Arabic letter mark, Hangul and Khmer fillers,
// zero-width and bidi characters, line and paragraph separators, invisible operators, isolates, BOM, interlinear and object marks, tag characters.
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufeff\uffa0\ufff0-\ufffc\u{e0000}-\u{e0fff}]/u;

export function hiddenName(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

// The joiner inside an emoji sequence is part of one visible sign, and hides nothing.
const EMOJI_BEFORE = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]$/u;
const EMOJI_AFTER = /^\p{Extended_Pictographic}/u;

export function Plain({ text }: { text: string }) {
  const pieces: ComponentChildren[] = [];
  const clean = text.replace(/\r\n/g, "\n");
  let run = "";
  let at = 0;
  for (const character of clean) {
    at += character.length;
    const joins = character === "\u200d" && EMOJI_BEFORE.test(run) && EMOJI_AFTER.test(clean.slice(at, at + 2));
    if (joins || !HIDDEN.test(character)) {
      run += character;
      continue;
    }
    if (run !== "") pieces.push(run);
    run = "";
    pieces.push(<span class="hidden-char">{hiddenName(character)}</span>);
  }
  if (run !== "") pieces.push(run);
  return <bdi>{pieces}</bdi>;
}

/** A value: text as text, anything else as indented JSON. */
export function Value({ value }: { value: Json | undefined }) {
  if (value === undefined || value === null || value === "") return <span class="muted">–</span>;
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  const short = !text.includes("\n") && text.length <= 40;
  return short ? <Chip text={text} /> : <Quoted text={text} />;
}
