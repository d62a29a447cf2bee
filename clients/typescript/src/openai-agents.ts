// OpenAI Agents: tools with `needsApproval: true` become holds, and the run goes on with the decisions.
//
//   let result = await run(agent, question);
//   while (result.interruptions?.length) {
//     const asked = await decide(result.state, client, { run: conversationId });
//     result = await run(agent, result.state);
//     await asked.report(result);
//   }
//
// Keep `result.state.toString()` before you call `decide`: a process that died while it waited makes the state again with
// `RunState.fromString(agent, text)` and calls `decide` with the same `run`. An approval here carries no other arguments than
// the model's, so an edit is told to the model as a denial that names the wanted arguments, and its next call is asked
// about again.

import { decideCalls, reportOutcomes, type DecideOptions, type PendingCall, type Results, type Verdict } from "./calls.js";
import type { Client } from "./client.js";
import { Unreadable } from "./errors.js";

/** The parts of `RunToolApprovalItem` that are read. */
export interface ApprovalItem {
  rawItem: unknown;
  name?: string | undefined;
  arguments?: string | undefined;
}

/** The parts of `RunState` that are used. */
export interface ApprovalState<Item extends ApprovalItem> {
  getInterruptions(): Item[];
  approve(item: Item): void;
  reject(item: Item, options?: { message?: string }): void;
}

export interface Turn {
  verdicts: Verdict[];
  /** Tells the server what the approved calls did, as the run's items say. */
  report(result: { newItems: unknown[] }): Promise<void>;
}

/** Waits for the decision of every interruption and writes it into the state. */
export async function decide<Item extends ApprovalItem>(
  state: ApprovalState<Item>,
  client: Client,
  options: DecideOptions,
): Promise<Turn> {
  const items = state.getInterruptions();
  const verdicts = await decideCalls(items.map(callOf), client, options);
  verdicts.forEach((verdict, at) => {
    const item = items[at] as Item;
    if (verdict.approved) state.approve(item);
    else state.reject(item, { message: verdict.message });
  });
  return { verdicts, report: (result) => reportOutcomes(verdicts, resultsOf(result.newItems), client) };
}

function callOf(item: ApprovalItem): PendingCall {
  const id = (item.rawItem as { callId?: unknown }).callId;
  let args: unknown;
  try {
    args = JSON.parse(item.arguments || "{}");
  } catch {
    args = undefined;
  }
  if (typeof id !== "string" || !item.name || typeof args !== "object" || args === null) {
    throw new Unreadable("this interruption is no call of a function with an id and an object of arguments");
  }
  return { id, tool: item.name, args };
}

function resultsOf(items: unknown[]): Results {
  const results: Results = new Map();
  for (const item of items as { type?: string; rawItem?: { callId?: string }; output?: unknown }[]) {
    if (item.type === "tool_call_output_item" && item.rawItem?.callId) {
      results.set(item.rawItem.callId, { succeeded: true, result: item.output });
    }
  }
  return results;
}
