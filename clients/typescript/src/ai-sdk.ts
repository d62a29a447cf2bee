// AI SDK 6 and 7, on the server: tools that need approval (`needsApproval`, or `toolApproval` in 7) become holds, and the next
// `generateText` or `streamText` goes on with the decisions.
//
//   const result = await generateText({ model, tools, messages });
//   messages.push(...result.responseMessages);            // in 6: result.response.messages
//   const asked = await decide(messages, client, { run: chatId });
//   if (asked.message) messages.push(asked.message);      // then generate again: approved tools run, the others do not
//   …
//   await asked.report(messages);
//
// Keep the messages before you call `decide`: a process that died while it waited reads them again and calls `decide` with
// the same `run`. An approval here carries no other arguments than the model's, so an edit is told to the model as a
// denial that names the wanted arguments, and its next call is asked about again.

import { decideCalls, reportOutcomes, type DecideOptions, type PendingCall, type Results, type Verdict } from "./calls.js";
import type { Client } from "./client.js";
import { Unreadable } from "./errors.js";

/** The parts of a `ModelMessage` that are read. */
export interface Message {
  role: string;
  content: unknown;
}

export interface ApprovalResponse {
  type: "tool-approval-response";
  approvalId: string;
  approved: boolean;
  reason?: string;
}

export interface Turn {
  verdicts: Verdict[];
  /** To be added to the messages; undefined where nothing waits for approval. */
  message: { role: "tool"; content: ApprovalResponse[] } | undefined;
  /** Tells the server what the approved calls did, as the messages say. */
  report(messages: readonly Message[]): Promise<void>;
}

interface Part {
  type?: string;
  approvalId?: string;
  isAutomatic?: boolean;
  toolCallId?: string;
  toolName?: string;
  input?: unknown;
  output?: { type?: string; value?: unknown };
}

/** Waits for the decision of every request in the messages that has no response yet. */
export async function decide(messages: readonly Message[], client: Client, options: DecideOptions): Promise<Turn> {
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? (content as Part[]) : []));
  const answered = new Set(parts.filter(({ type }) => type === "tool-approval-response").map((part) => part.approvalId));
  const open = parts.filter(
    (part) => part.type === "tool-approval-request" && !part.isAutomatic && !answered.has(part.approvalId),
  );
  const verdicts = await decideCalls(
    open.map((request) => callOf(request, parts)),
    client,
    options,
  );
  const content = verdicts.map((verdict, at): ApprovalResponse => {
    const approvalId = open[at]?.approvalId as string;
    const answer = { type: "tool-approval-response", approvalId, approved: verdict.approved } as const;
    return verdict.approved ? answer : { ...answer, reason: verdict.message };
  });
  const report = (later: readonly Message[]) => reportOutcomes(verdicts, resultsOf(later), client);
  return { verdicts, message: content.length ? { role: "tool", content } : undefined, report };
}

function callOf(request: Part, parts: Part[]): PendingCall {
  const call = parts.find((part) => part.type === "tool-call" && part.toolCallId === request.toolCallId);
  if (!request.approvalId || !call?.toolCallId || !call.toolName) {
    throw new Unreadable("a request for approval names no tool call of these messages");
  }
  return { id: call.toolCallId, tool: call.toolName, args: call.input };
}

function resultsOf(messages: readonly Message[]): Results {
  const results: Results = new Map();
  for (const { role, content } of messages) {
    for (const part of role === "tool" && Array.isArray(content) ? (content as Part[]) : []) {
      if (part.type !== "tool-result" || !part.toolCallId || part.output?.type === "execution-denied") continue;
      const succeeded = !part.output?.type?.startsWith("error");
      results.set(part.toolCallId, { succeeded, result: part.output?.value });
    }
  }
  return results;
}
