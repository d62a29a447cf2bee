// Three kinds of address, the same ones that chat cards and e-mails link to.

import { useEffect, useState } from "preact/hooks";

export type Route = { at: "home" } | { at: "hold"; id: string } | { at: "session"; id: string } | { at: "nowhere" };

export function routeOf(path: string): Route {
  const [, kind, id, ...rest] = path.replace(/\/+$/, "").split("/");
  if (kind === undefined || kind === "") return { at: "home" };
  if (id !== undefined && id !== "" && rest.length === 0) {
    const name = decoded(id);
    if (kind === "holds") return { at: "hold", id: name };
    if (kind === "sessions") return { at: "session", id: name };
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

export function go(path: string): void {
  history.pushState(null, "", path);
  dispatchEvent(new Event(CHANGED));
}

export function useRoute(): Route {
  const [path, setPath] = useState(location.pathname);
  useEffect(() => {
    const read = () => setPath(location.pathname);
    addEventListener("popstate", read);
    addEventListener(CHANGED, read);
    return () => {
      removeEventListener("popstate", read);
      removeEventListener(CHANGED, read);
    };
  }, []);
  return routeOf(path);
}

/** For the whole page: a plain click on one of our own links changes the view without loading the page again. */
export function onLinkClick(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (!link || link.origin !== location.origin || link.target !== "" || link.hash !== "" || routeOf(link.pathname).at === "nowhere") return;
  event.preventDefault();
  if (link.pathname !== location.pathname) go(link.pathname);
}

export const holdPath = (id: string) => `/holds/${encodeURIComponent(id)}`;
export const sessionPath = (id: string) => `/sessions/${encodeURIComponent(id)}`;
