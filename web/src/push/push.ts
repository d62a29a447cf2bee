// Notices in this browser: subscribed by the person's own wish, renewed at each visit, ended with the login. And the count on the
// icon of an installed page.

import { newKey, removePush, subscribePush, pushState } from "../api";
import { language } from "../i18n";
import { go } from "../route";

const STORED = "holdpoint.push";
const DESKTOP = "holdpoint.desktop";

/** Whether this browser can be told while the page is closed. Only a page over https or of this machine can. */
export const canPush = (): boolean => "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;
export const canNotify = (): boolean => "Notification" in window && isSecureContext;

function stored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    // Without storage the choice lasts until the page is left.
    return null;
  }
}

function store(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // As above.
  }
}

/** The id under which the server knows this browser, if it is told. */
export const pushedHere = (): string | null => stored(STORED);

/** Whether this tab shows notices while it is hidden. */
export const desktopOn = (): boolean => canNotify() && Notification.permission === "granted" && stored(DESKTOP) === "on";

export async function setDesktop(on: boolean): Promise<boolean> {
  if (on && (await Notification.requestPermission()) !== "granted") return false;
  store(DESKTOP, on ? "on" : null);
  return true;
}

/** `false` if the person or their browser said no. */
export async function turnOn(): Promise<boolean> {
  if ((await Notification.requestPermission()) !== "granted") return false;
  const { key } = await pushState();
  if (key === null) return false;
  const worker = await registered();
  const old = await worker.pushManager.getSubscription();
  // One for another server key would never be heard.
  if (old !== null && encoded(old.options.applicationServerKey) !== key) await old.unsubscribe();
  const made = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: decoded(key) });
  const { id } = await subscribePush({ ...made.toJSON(), language: language(), name: browserName() }, newKey());
  store(STORED, id);
  return true;
}

export async function turnOff(): Promise<void> {
  const id = pushedHere();
  store(STORED, null);
  if (id !== null) await removePush(id).catch(() => {});
  const worker = await navigator.serviceWorker?.getRegistration();
  await (await worker?.pushManager?.getSubscription())?.unsubscribe();
}

/** At each visit of a person who wants it: the worker is looked for anew, and the server keeps the subscription for longer. */
export function renew(): void {
  if (!canPush()) return;
  navigator.serviceWorker.onmessage = (event: MessageEvent<{ open?: unknown }>) => {
    if (typeof event.data?.open === "string" && /^\/[a-z]/.test(event.data.open)) go(event.data.open);
  };
  if (pushedHere() === null) return;
  if (Notification.permission === "granted") void turnOn().catch(() => {});
  else store(STORED, null);
}

/** What a login leaves in this browser goes with it, also when the server cannot be reached. */
export async function forget(): Promise<void> {
  if (canPush()) await turnOff().catch(() => {});
}

/** The count on the icon of an installed page. */
export function badge(count: number): void {
  const quiet = () => {};
  if (count > 0) void navigator.setAppBadge?.(count).catch(quiet);
  else void navigator.clearAppBadge?.().catch(quiet);
}

/** So that its owner knows it again: "Chrome, Android". */
function browserName(): string {
  const agent = navigator.userAgent;
  const browser = /Edg\//.test(agent) ? "Edge" : /Firefox\//.test(agent) ? "Firefox" : /Chrome\//.test(agent) ? "Chrome" : /Safari\//.test(agent) ? "Safari" : "";
  const system = /Android/.test(agent) ? "Android" : /iPhone|iPad/.test(agent) ? "iOS" : /Mac OS/.test(agent) ? "macOS" : /Windows/.test(agent) ? "Windows" : /Linux/.test(agent) ? "Linux" : "";
  return [browser, system].filter(Boolean).join(", ");
}

async function registered(): Promise<ServiceWorkerRegistration> {
  const worker = await navigator.serviceWorker.register("/sw.js", { updateViaCache: "none" });
  await navigator.serviceWorker.ready;
  return worker;
}

function decoded(key: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(key.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
}

function encoded(key: ArrayBuffer | null): string {
  return key === null ? "" : btoa(String.fromCharCode(...new Uint8Array(key))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}
