// The addresses of the page, the same ones that chat cards and e-mails link to. What a list shows stands behind the question
// mark, so that a view can be kept as a bookmark and sent to a colleague.

import { useEffect, useState } from "preact/hooks";

export type Route =
  | { at: "inbox" }
  | { at: "history" }
  | { at: "start" }
  | { at: "sessions" }
  | { at: "admin"; tab: string }
  | { at: "hold"; id: string }
  | { at: "session"; id: string }
  | { at: "nowhere" };

export function routeOf(path: string): Route {
  const [, kind, id, ...rest] = path.replace(/\/+$/, "").split("/");
  if (kind === undefined || kind === "") return { at: "inbox" };
  if (id === undefined) {
    if (kind === "history" || kind === "start" || kind === "sessions") return { at: kind };
    return kind === "admin" ? { at: "admin", tab: "" } : { at: "nowhere" };
  }
  if (id !== "" && rest.length === 0) {
    const name = decoded(id);
    if (kind === "holds") return { at: "hold", id: name };
    if (kind === "sessions") return { at: "session", id: name };
    if (kind === "admin") return { at: "admin", tab: name };
  }
  return { at: "nowhere" };
}

function decoded(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

const CHANGED = "holdpoint:route";

/** How the reader came to a page: someone who goes through a list is led on to the next hold after a decision. */
interface Came {
  through?: "list";
}

export function go(path: string, came: Came = {}): void {
  history.pushState(came, "", path);
  dispatchEvent(new Event(CHANGED));
}

/** Changes what the address says without a step back to it, as typing into a filter does. */
export function restate(path: string): void {
  history.replaceState(history.state, "", path);
  dispatchEvent(new Event(CHANGED));
}

export function cameThroughList(): boolean {
  return (history.state as Came | null)?.through === "list";
}

export interface Address {
  route: Route;
  query: URLSearchParams;
}

export function useAddress(): Address {
  const [place, setPlace] = useState(location.pathname + location.search);
  useEffect(() => {
    const read = () => setPlace(location.pathname + location.search);
    addEventListener("popstate", read);
    addEventListener(CHANGED, read);
    return () => {
      removeEventListener("popstate", read);
      removeEventListener(CHANGED, read);
    };
  }, []);
  const [path = "/", search = ""] = place.split("?");
  return { route: routeOf(path), query: new URLSearchParams(search) };
}

/** For the whole page: a plain click on one of our own links changes the view without loading the page again. */
export function onLinkClick(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (!link || link.origin !== location.origin || link.target !== "" || link.hash !== "" || routeOf(link.pathname).at === "nowhere") return;
  event.preventDefault();
  const wanted = link.pathname + link.search;
  if (wanted !== location.pathname + location.search) go(wanted, "item" in link.dataset ? { through: "list" } : {});
}

export const holdPath = (id: string) => `/holds/${encodeURIComponent(id)}`;
export const sessionPath = (id: string) => `/sessions/${encodeURIComponent(id)}`;
