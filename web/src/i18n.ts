// Two languages, one small dictionary each. The choice is the browser's until a person switches; then it is theirs.

import { en } from "./text/en";
import { zh } from "./text/zh";

export type Key = keyof typeof en;
export type Language = "en" | "zh";

const STORED = "holdpoint.language";

let current: Language = chosen();
const listeners = new Set<() => void>();

function chosen(): Language {
  const stored = remembered();
  if (stored === "en" || stored === "zh") return stored;
  return navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
}

function remembered(): string | null {
  try {
    return localStorage.getItem(STORED);
  } catch {
    // Storage can be switched off; the page then follows the browser's language.
    return null;
  }
}

export function language(): Language {
  return current;
}

export function switchLanguage(): void {
  current = current === "en" ? "zh" : "en";
  try {
    localStorage.setItem(STORED, current);
  } catch {
    // Without storage the switch lasts until the page is left.
  }
  for (const listener of listeners) listener();
}

export function onLanguage(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function t(key: Key, values: Record<string, string | number> = {}): string {
  const text: string = (current === "zh" ? zh : en)[key];
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    return value === undefined ? whole : String(value);
  });
}

/** The option of the server's own, for a question that is a link. */
export const OPENED_LINK = { id: "link_opened", label: en["choose.link_opened"] };

/** What an option says: words of the asker, unless it is the server's own. */
export function optionLabel(option: { id: string; label: string }): string {
  return option.id === OPENED_LINK.id && option.label === OPENED_LINK.label ? t("choose.link_opened") : option.label;
}

/** A word that the server may extend (a state, a scenario): translated when known, else shown as it came. */
export function word(prefix: string, name: string, values: Record<string, string | number> = {}): string {
  const key = `${prefix}.${name}`;
  return key in en ? t(key as Key, values) : name;
}
