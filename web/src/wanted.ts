// Where somebody wanted to go before they were asked to log in. A login link brings them back there, also one that an admin made
// and that knows nothing of it, if it is opened in the same browser.

import { restate, routeOf } from "./route";

const STORED = "holdpoint.wanted";
// After that they have forgotten it themselves.
const KEPT_MS = 15 * 60_000;
const CHANNEL = "holdpoint.login";

export function keepWanted(): void {
  if (location.pathname === "/") return;
  try {
    localStorage.setItem(STORED, JSON.stringify({ path: location.pathname, at: Date.now() }));
  } catch {
    // Without storage the link's own address has to do.
  }
}

/** Called when a login is known: goes on to where they wanted to be, and tells the tabs that still ask for a login. */
export function goToWanted(): void {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(STORED) ?? "null");
    localStorage.removeItem(STORED);
    if (location.pathname === "/" && isWanted(kept) && routeOf(kept.path).at !== "nowhere" && Date.now() - kept.at < KEPT_MS) restate(kept.path);
  } catch {
    // Then they are at the inbox, which is no bad place either.
  }
  channel()?.postMessage("in");
}

function isWanted(kept: unknown): kept is { path: string; at: number } {
  // Only a path of this site: two slashes would lead to another one.
  return typeof kept === "object" && kept !== null && "path" in kept && "at" in kept && typeof kept.path === "string" && /^\/[^/\\]/.test(kept.path) && typeof kept.at === "number";
}

/** Tells when another tab of this browser has logged in, or this one is looked at again. */
export function whenLoggedIn(tell: () => void): () => void {
  const heard = channel();
  if (heard) heard.onmessage = tell;
  const look = () => {
    if (!document.hidden) tell();
  };
  document.addEventListener("visibilitychange", look);
  return () => {
    heard?.close();
    document.removeEventListener("visibilitychange", look);
  };
}

function channel(): BroadcastChannel | null {
  return typeof BroadcastChannel === "function" ? new BroadcastChannel(CHANNEL) : null;
}
