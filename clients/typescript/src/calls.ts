// Several tool calls of one turn of an agent: each gets its hold, all are waited for, each approval is used once. The
// adapters translate between this and their framework, which makes the calls itself: so an approval is used when the
// verdicts are handed over, and `reportOutcomes` says afterwards what the calls did.

import { Client, Patience } from "./client.js";
import { approvedArguments, mustBeApproved } from "./decision.js";
import { AlreadyUsed, Cancelled, Denied, Expired, HoldpointError, Responded } from "./errors.js";
import { reportable } from "./gate.js";
import type { Audience, Hold, JsonObject, NewHold, Risk } from "./hold.js";
import { derivedKey, encode, isObject, mustBeJson } from "./json.js";

/** One call that waits. */
export interface PendingCall {
  id: string;
  tool: string;
  args: unknown;
}

export interface DecideOptions {
  /** Names the conversation, the same after a restart. */
  run: string;
  title?: (call: PendingCall) => string;
  context?: JsonObject;
  audience?: Audience;
  risk?: Risk;
  expiresInS?: number;
  timeoutMs?: number;
  signal?: AbortSignal;
}

export interface Verdict {
  call: PendingCall;
  hold: Hold;
  approved: boolean;
  /** What the model is told if it was not approved. */
  message: string;
}

/**
 * Opens every hold before it waits for the first, so that people see all of them at once. No approval is used before all
 * are decided; if the wait ends in an error, none is, and the same turn can be asked again.
 */
export async function decideCalls(calls: PendingCall[], client: Client, options: DecideOptions): Promise<Verdict[]> {
  const patience = new Patience(options.timeoutMs, options.signal);
  for (const call of calls) {
    if (!isObject(call.args)) throw new TypeError(`the arguments of ${call.tool} are no object`);
    mustBeJson(call.args, `the argument of ${call.tool}`);
  }
  const opened: Hold[] = [];
  for (const call of calls) {
    const key = await derivedKey(call.tool, call.args as JsonObject, `${options.run}/${call.id}`);
    opened.push(await client.open(bodyOf(call, options), { key, patience }));
  }
  const decided: Hold[] = [];
  for (const hold of opened) {
    decided.push(hold.state === "pending" ? await client.waitFor(hold.id, "decided", patience, hold) : hold);
  }
  const verdicts: Verdict[] = [];
  for (const [at, call] of calls.entries()) verdicts.push(await verdictOf(call, decided[at] as Hold, client));
  return verdicts;
}

function bodyOf(call: PendingCall, options: DecideOptions): NewHold {
  return {
    kind: "approve",
    title: (options.title?.(call) ?? `Call ${call.tool}`).slice(0, 500),
    call: { tool: call.tool, arguments: call.args },
    ...(options.context === undefined ? {} : { context: options.context }),
    ...(options.audience === undefined ? {} : { audience: options.audience }),
    ...(options.risk === undefined ? {} : { risk: options.risk }),
    ...(options.expiresInS === undefined ? {} : { expires_in_s: options.expiresInS }),
  } as NewHold;
}

async function verdictOf(call: PendingCall, hold: Hold, client: Client): Promise<Verdict> {
  const no = (message: string): Verdict => ({ call, hold, approved: false, message });
  try {
    mustBeApproved(hold);
  } catch (error) {
    if (error instanceof Denied) return no(error.reason ?? "denied");
    if (error instanceof Responded) return no(`A person answered in the tool's place: ${error.content}`);
    if (error instanceof Expired || error instanceof Cancelled) return no(error.message);
    throw error;
  }
  const { args, edited } = approvedArguments(hold, call.tool, call.args as JsonObject);
  if (edited) {
    // Neither framework can make a call with other arguments than the model's.
    return no(`A person wants other arguments. Call ${call.tool} again with exactly these: ${encode(args)}`);
  }
  try {
    await client.start(hold);
  } catch (error) {
    if (!(error instanceof AlreadyUsed)) throw error;
    if (error.outcome === "succeeded") return no(`This call has run already. Its result: ${String(error.result)}`);
    return no(`This call was made before, and is not made again: ${error.message}`);
  }
  return { call, hold, approved: true, message: "" };
}

/** By the ids of the calls. A call without a result stays `executing`. */
export type Results = Map<string, { succeeded: boolean; result: unknown }>;

export async function reportOutcomes(verdicts: Verdict[], results: Results, client: Client): Promise<void> {
  for (const { approved, call, hold } of verdicts) {
    const told = results.get(call.id);
    if (!approved || !told) continue;
    try {
      await client.report(hold.id, told.succeeded, reportable(told.result));
    } catch (error) {
      if (!(error instanceof HoldpointError)) throw error;
      console.warn(`holdpoint: ${call.tool} ran, and its outcome could not be reported: ${error.message}`);
    }
  }
}
