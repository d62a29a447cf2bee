// The keyboard of the page. Views say which keys they listen to; the last one to say so is asked first. Keys that are typed into
// a field belong to the field, and while a sheet is open the page behind it hears nothing. No single key answers a hold.

import { useLayoutEffect, useRef } from "preact/hooks";

type Act = (event: KeyboardEvent) => void;

const listeners = new Map<string, Act[]>();
// "g i" is two keys; the second one counts only soon after the first.
const SECOND_KEY_MS = 1000;
let first: { key: string; at: number } | null = null;

/** Listens to a key ("j", "Escape") or to two in a row ("g i") while the component is shown and `act` is not null. */
export function useKey(key: string, act: Act | null): void {
  const now = useRef(act);
  now.current = act;
  const on = act !== null;
  // With the drawing and not a frame after it: a key that follows what is in view must be heard.
  useLayoutEffect(() => {
    if (!on) return;
    const call: Act = (event) => now.current?.(event);
    listeners.set(key, [...(listeners.get(key) ?? []), call]);
    return () => {
      listeners.set(key, (listeners.get(key) ?? []).filter((one) => one !== call));
    };
  }, [key, on]);
}

export function onKey(event: KeyboardEvent): void {
  const target = event.target instanceof HTMLElement ? event.target : null;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    const form = target?.closest("form");
    if (form) {
      event.preventDefault();
      form.requestSubmit();
    }
    return;
  }
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (document.querySelector("dialog[open]")) return;
  const typing = target?.closest("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");
  if (typing) {
    if (event.key === "Escape") (typing as HTMLElement).blur();
    return;
  }
  const second = first !== null && Date.now() - first.at < SECOND_KEY_MS ? `${first.key} ${event.key}` : null;
  first = null;
  if (second !== null && told(second, event)) return;
  if ([...listeners.entries()].some(([key, acts]) => acts.length > 0 && key.startsWith(`${event.key} `))) {
    first = { key: event.key, at: Date.now() };
    return;
  }
  told(event.key === "X" ? "Shift+x" : event.key, event);
}

function told(key: string, event: KeyboardEvent): boolean {
  const act = listeners.get(key)?.at(-1);
  if (!act) return false;
  // Holding a key down must not go through ten holds.
  if (event.repeat && key !== "j" && key !== "k") return true;
  event.preventDefault();
  act(event);
  return true;
}
