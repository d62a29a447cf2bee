// Speaks to one server: opens holds, waits over faults and restarts, uses approvals once, reports.

import { AlreadyUsed, HoldpointError, Refused, TimedOut, Unreachable, Unreadable } from "./errors.js";
import type { Hold, NewHold } from "./hold.js";
import { encode } from "./json.js";

const DEFAULT_SERVER = "http://127.0.0.1:7420";
/** How long the server may be away, a restart included, before a request gives up. */
const PATIENCE_MS = 60_000;
/** How long an ordinary reply may take; a long poll takes its own time on top. */
const REPLY_MS = 15_000;
const POLL_S = 30;
const BACKOFF_MS = [100, 5_000] as const;
const AWAY = [429, 502, 503, 504];
const FROZEN = 423;
const STATES = ["pending", "approved", "denied", "answered", "expired", "cancelled"];

export interface ClientOptions {
  /** HOLDPOINT_SERVER if not said. */
  url?: string;
  /** HOLDPOINT_TOKEN if not said. */
  token?: string;
  patienceMs?: number;
  fetch?: typeof fetch;
}

export interface Waiting {
  until?: "decided" | "settled";
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** When to give up: the caller's own bound and signal. */
export class Patience {
  readonly deadline: number;

  constructor(
    readonly timeoutMs: number | undefined = undefined,
    readonly signal: AbortSignal | undefined = undefined,
  ) {
    this.deadline = performance.now() + (timeoutMs ?? Infinity);
  }

  left(): number {
    return this.deadline - performance.now();
  }
}

interface Ask {
  method: "GET" | "POST";
  path: string;
  body?: unknown;
  key?: string;
  readMs?: number;
  /** Further statuses after which the request is sent again. */
  also?: number[];
}

interface Reply {
  status: number;
  headers: Headers;
  text: string;
}

export class Client {
  readonly url: string;
  readonly patienceMs: number;
  readonly #token: string;
  readonly #fetch: typeof fetch;

  constructor(options: ClientOptions = {}) {
    const env = globalThis.process?.env ?? {};
    this.url = (options.url ?? env["HOLDPOINT_SERVER"] ?? DEFAULT_SERVER).replace(/\/+$/, "");
    const token = options.token ?? env["HOLDPOINT_TOKEN"];
    if (!token) throw new TypeError("no token: pass `token`, or set HOLDPOINT_TOKEN (`holdpoint token create` makes one)");
    this.#token = token;
    this.patienceMs = options.patienceMs ?? PATIENCE_MS;
    this.#fetch = options.fetch ?? fetch;
  }

  /** Opens a hold. Under the same `key` the same hold is found again for 24 hours. */
  async open(hold: NewHold, options: { key?: string; patience?: Patience } = {}): Promise<Hold> {
    const patience = options.patience ?? new Patience();
    const ask: Ask = { method: "POST", path: "/v1/holds", body: hold, key: options.key ?? newKey() };
    const reply = await this.#send(ask, patience);
    const opened = holdOf(reply);
    // A kept reply is the hold as it was when it was opened.
    return reply.headers.has("idempotency-replayed") ? this.show(opened.id, patience) : opened;
  }

  async show(id: string, patience = new Patience()): Promise<Hold> {
    return holdOf(await this.#send({ method: "GET", path: pathOf(id) }, patience), id);
  }

  /** Waits over faults and restarts of the server. Throws `TimedOut` after `timeoutMs`. */
  async wait(id: string, options: Waiting = {}): Promise<Hold> {
    return this.waitFor(id, options.until ?? "decided", new Patience(options.timeoutMs, options.signal));
  }

  async waitFor(id: string, until: string, patience: Patience, hold?: Hold): Promise<Hold> {
    for (;;) {
      const left = patience.left();
      if (left <= 0) throw new TimedOut(`no decision within ${patience.timeoutMs} ms`, hold);
      const seconds = Math.min(POLL_S, Math.floor(left / 1000));
      const path = `${pathOf(id)}/wait?until=${until}&timeout_s=${seconds}`;
      const reply = await this.#send({ method: "GET", path, readMs: REPLY_MS + seconds * 1000 }, patience, hold);
      if (reply.status !== 204) return holdOf(reply, id);
      if (seconds === 0) await pause(Math.min(200, patience.left()), patience.signal);
    }
  }

  async cancel(id: string, reason?: string, patience = new Patience()): Promise<Hold> {
    const body = reason === undefined ? {} : { reason };
    return holdOf(await this.#send({ method: "POST", path: `${pathOf(id)}/cancel`, body, key: newKey() }, patience), id);
  }

  /**
   * Uses an approval, right before you make the call. The key belongs to this attempt alone, so that a second one, in
   * this process or another, is refused: `AlreadyUsed`. While all is frozen, nothing starts.
   */
  async start(hold: Hold, patience = new Patience()): Promise<Hold> {
    const path = `${pathOf(hold.id)}/outcome`;
    const ask: Ask = { method: "POST", path, body: { state: "executing" }, key: newKey(), also: [FROZEN] };
    const reply = await this.#send(ask, patience, hold);
    if (reply.status === 409) throw alreadyUsed(await this.show(hold.id, patience));
    const started = holdOf(reply, hold.id);
    if (started.state !== "approved" || started.digest !== hold.digest) {
      throw new Unreadable("the hold changed after its approval", started);
    }
    return started;
  }

  async report(id: string, succeeded: boolean, result?: unknown): Promise<Hold> {
    const body = { state: succeeded ? "succeeded" : "failed", ...(result === undefined ? {} : { result }) };
    const ask: Ask = { method: "POST", path: `${pathOf(id)}/outcome`, body, key: newKey() };
    return holdOf(await this.#send(ask, new Patience()), id);
  }

  /** Sends until there is a reply. Only for requests that may be repeated: reads, and those with a key. */
  async #send(ask: Ask, patience: Patience, hold?: Hold): Promise<Reply> {
    let since: number | undefined;
    let longest: number = BACKOFF_MS[0];
    for (;;) {
      patience.signal?.throwIfAborted();
      let why: string;
      let reply: Reply | undefined;
      try {
        reply = await this.#once(ask, patience.signal);
        if (!AWAY.includes(reply.status) && !ask.also?.includes(reply.status)) return reply;
        why = `${reply.status} ${problemOf(reply)["detail"] ?? ""}`.trim();
      } catch (error) {
        patience.signal?.throwIfAborted();
        why = messageOf(error);
      }
      // From the first fault, and not from the beginning: a long poll may have waited in peace before.
      since ??= performance.now();
      if (patience.left() <= 0) {
        throw new TimedOut(`no decision within ${patience.timeoutMs} ms; last heard: ${why}`, hold);
      }
      if (performance.now() - since > this.patienceMs) {
        if (reply && ask.also?.includes(reply.status)) throw refused(reply);
        throw new Unreachable(`the server did not answer for ${this.patienceMs} ms: ${why}`, hold);
      }
      const asked = Number(reply?.headers.get("retry-after") ?? 0) * 1000 || 0;
      const wait = Math.max(longest * (0.5 + Math.random() / 2), asked);
      await pause(Math.min(wait, BACKOFF_MS[1], patience.left()), patience.signal);
      longest = Math.min(longest * 2, BACKOFF_MS[1]);
    }
  }

  async #once(ask: Ask, signal: AbortSignal | undefined): Promise<Reply> {
    const headers: Record<string, string> = { authorization: `Bearer ${this.#token}`, accept: "application/json" };
    if (ask.body !== undefined) headers["content-type"] = "application/json";
    if (ask.key !== undefined) headers["idempotency-key"] = ask.key;
    const bound = AbortSignal.timeout(ask.readMs ?? REPLY_MS);
    const response = await this.#fetch(this.url + ask.path, {
      method: ask.method,
      headers,
      redirect: "manual",
      signal: signal ? AbortSignal.any([signal, bound]) : bound,
      ...(ask.body === undefined ? {} : { body: encode(ask.body) }),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }
}

export function newKey(): string {
  return `holdpoint-${crypto.randomUUID()}`;
}

/** Ends early when the signal says so. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end);
      resolve();
    }, Math.max(0, ms));
    signal?.addEventListener("abort", end, { once: true });
  });
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

function problemOf(reply: Reply): { [name: string]: unknown } {
  try {
    const problem: unknown = JSON.parse(reply.text);
    return typeof problem === "object" && problem !== null ? (problem as { [name: string]: unknown }) : {};
  } catch {
    return {};
  }
}

function refused(reply: Reply): HoldpointError {
  const problem = problemOf(reply);
  const code = problem["code"];
  if (typeof code !== "string" || reply.status < 400) {
    const told = `status ${reply.status} without a problem that this client can read; is this a Holdpoint?`;
    return new Unreadable(told);
  }
  let detail = String(problem["detail"] ?? problem["title"] ?? code);
  if (code === "idempotency_key_reused") detail += "; one `key` stands for one call with one title and context";
  const field = problem["field"];
  const told = `${reply.status} ${code}: ${detail}`;
  return new Refused(told, reply.status, code, typeof field === "string" ? field : undefined);
}

function holdOf(reply: Reply, id?: string): Hold {
  if (reply.status !== 200 && reply.status !== 201) throw refused(reply);
  let hold: Hold;
  try {
    hold = JSON.parse(reply.text) as Hold;
  } catch {
    throw new Unreadable("the reply is not JSON");
  }
  const readable =
    typeof hold === "object" && hold !== null && typeof hold.id === "string" && STATES.includes(hold.state);
  if (!readable || (id !== undefined && hold.id !== id)) {
    throw new Unreadable("the reply is not the hold that was asked for");
  }
  return hold;
}

function pathOf(id: string): string {
  if (!/^hold_[A-Za-z0-9_]+$/.test(id)) throw new TypeError(`${JSON.stringify(id)} is not the id of a hold`);
  return `/v1/holds/${id}`;
}

export function alreadyUsed(hold: Hold): AlreadyUsed {
  const state = hold.outcome?.state ?? "executing";
  const told =
    state === "executing"
      ? "the call was started under this approval, and its end was not reported: look at what it did"
      : `the call has run under this approval, and ${state}`;
  return new AlreadyUsed(told, hold);
}
