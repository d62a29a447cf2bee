// One line in front of a function: it is called once, with exactly the arguments that a person approved.

import { Client, newKey, Patience } from "./client.js";
import { approvedArguments, mustBeApproved, mustFit, type Fit, type StandardSchema } from "./decision.js";
import { HoldpointError, TimedOut } from "./errors.js";
import type { Audience, Hold, JsonObject, NewHold, Risk } from "./hold.js";
import { copy, derivedKey, encode, isObject, mustBeJson } from "./json.js";

/** What is reported of a result; the rest is cut, and said to be cut. */
const RESULT_CHARS = 10_000;
/** How long withdrawing a hold may take, of which nobody waits for the answer any more. */
const WITHDRAW_MS = 3_000;

export interface GateOptions<A> {
  /** The name that rules and people see. Needed where the function has none. */
  tool?: string;
  title?: string | ((args: A) => string);
  /** Names this call; the id of a tool call is a good one. A restart finds the same hold under it. */
  key?: string | ((args: A) => string);
  /** Names what the call belongs to: the key is made of it, the tool and the arguments. */
  run?: string | (() => string);
  client?: Client;
  context?: JsonObject;
  audience?: Audience;
  risk?: Risk;
  expiresInS?: number;
  timeoutMs?: number;
  /** What edited arguments must fit; without it they keep their names and kinds. */
  schema?: StandardSchema;
  /** Looks at edited arguments, and throws or returns false if they do not fit. */
  check?: (args: A) => unknown;
  /** Whether the result is reported to the server, where people see it. */
  reportResult?: boolean;
}

export interface CallOptions {
  key?: string;
  run?: string;
  signal?: AbortSignal;
}

/** The function waits for a person's approval of its arguments before each call. */
export function gate<A extends object, R>(
  fn: (args: A) => R | Promise<R>,
  options: GateOptions<A> = {},
): (args: A, call?: CallOptions) => Promise<R> {
  const tool = options.tool ?? fn.name;
  if (!tool) throw new TypeError("the function has no name; say which `tool` it is");
  return async (args: A, call: CallOptions = {}): Promise<R> => {
    const client = options.client ?? new Client();
    const sent = frozenArguments(args);
    const clear = await clearCall(client, tool, sent, options as GateOptions<JsonObject>, call);
    return runReported(client, clear.hold.id, tool, options.reportResult ?? true, () => fn(clear.args as A));
  };
}

/** The arguments as they will be approved. */
export function frozenArguments(args: object): JsonObject {
  const given: unknown = args ?? {};
  if (!isObject(given)) throw new TypeError("a gated function takes one plain object with its arguments");
  mustBeJson(given, "the argument");
  return copy(given);
}

/** To the last moment before the call: the approval is used when this returns. */
export async function clearCall(
  client: Client,
  tool: string,
  sent: JsonObject,
  options: GateOptions<JsonObject>,
  call: CallOptions = {},
): Promise<{ hold: Hold; args: JsonObject }> {
  const hold = await decided(client, tool, sent, options, call);
  mustBeApproved(hold);
  const { args, edited } = approvedArguments(hold, tool, sent);
  const fit: Fit = { schema: options.schema, check: options.check };
  if (edited) await mustFit(fit, args, sent, hold);
  call.signal?.throwIfAborted();
  await client.start(hold);
  return { hold, args };
}

/** Opens the hold, or finds it again, and waits until it is decided. */
export async function decided(
  client: Client,
  tool: string,
  sent: JsonObject,
  options: GateOptions<JsonObject>,
  call: CallOptions = {},
): Promise<Hold> {
  const run = call.run ?? (typeof options.run === "function" ? options.run() : options.run);
  const key =
    call.key ??
    (typeof options.key === "function" ? options.key(sent) : options.key) ??
    (run === undefined ? undefined : await derivedKey(tool, sent, run));
  const title = typeof options.title === "function" ? options.title(sent) : options.title;
  const body: NewHold = {
    kind: "approve",
    title: title ?? `Call ${tool}`,
    call: { tool, arguments: sent },
    ...(options.context === undefined ? {} : { context: options.context }),
    ...(options.audience === undefined ? {} : { audience: options.audience }),
    ...(options.risk === undefined ? {} : { risk: options.risk }),
    ...(options.expiresInS === undefined ? {} : { expires_in_s: options.expiresInS }),
  } as NewHold;
  const patience = new Patience(options.timeoutMs, call.signal);
  const opened = await (key === undefined ? openUnkeyed(client, body, options.timeoutMs, call.signal) : client.open(body, { key, patience }));
  if (opened.state !== "pending") return opened;
  try {
    return await client.waitFor(opened.id, "decided", patience, opened);
  } catch (error) {
    const gaveUp = error instanceof TimedOut || call.signal?.aborted;
    // Nobody could find this hold again, so no person should be asked for nothing. If this fails it is decided by
    // now, or stays open until it expires; either way the function is not called.
    if (gaveUp && key === undefined) {
      await withdraw(client, opened);
    }
    throw error;
  }
}

/**
 * An abort does not cut this request off: it may have made a hold by now, whose id comes only with the reply. The hold is
 * withdrawn then, also if the reply comes after this function has stopped waiting for it.
 */
async function openUnkeyed(client: Client, body: NewHold, timeoutMs: number | undefined, signal: AbortSignal | undefined): Promise<Hold> {
  signal?.throwIfAborted();
  const opening = client.open(body, { key: newKey(), patience: new Patience(timeoutMs) });
  if (signal === undefined) return opening;
  let abort = () => {};
  const aborted = new Promise<"aborted">((done) => {
    abort = () => done("aborted");
    signal.addEventListener("abort", abort, { once: true });
  });
  try {
    const first = await Promise.race([opening, aborted]);
    if (first !== "aborted") return first;
  } finally {
    signal.removeEventListener("abort", abort);
  }
  const withdrawn = opening.then((hold) => withdraw(client, hold)).catch(() => undefined);
  let timer: ReturnType<typeof setTimeout> | undefined;
  await Promise.race([withdrawn, new Promise((done) => (timer = setTimeout(done, WITHDRAW_MS)))]);
  clearTimeout(timer);
  throw signal.reason;
}

/** If this fails the hold is decided by now, or stays open until it expires. */
async function withdraw(client: Client, hold: Hold): Promise<void> {
  await client.cancel(hold.id, "its program no longer waits", new Patience(WITHDRAW_MS)).catch(() => undefined);
}

/** Makes the call and says what came of it. The call was made, so a report that fails must not look as if it was not. */
export async function runReported<R>(
  client: Client,
  id: string,
  tool: string,
  withResult: boolean,
  fn: () => R | Promise<R>,
): Promise<R> {
  const report = async (succeeded: boolean, result: unknown) => {
    try {
      await client.report(id, succeeded, withResult ? reportable(result) : undefined);
    } catch (error) {
      if (!(error instanceof HoldpointError)) throw error;
      console.warn(`holdpoint: ${tool} ran, and its outcome could not be reported: ${error.message}`);
    }
  };
  let result: R;
  try {
    result = await fn();
  } catch (error) {
    await report(false, error instanceof Error ? `${error.name}: ${error.message}` : String(error));
    throw error;
  }
  await report(true, result);
  return result;
}

export function reportable(result: unknown): unknown {
  if (result === undefined) return undefined;
  let text: string;
  let told: unknown = result;
  try {
    mustBeJson(result, "the result");
    text = encode(result);
  } catch {
    told = text = String(result);
  }
  if (text.length <= RESULT_CHARS) return told;
  return `${text.slice(0, RESULT_CHARS)}… (${text.length} characters, cut)`;
}
