// The types fit the frameworks' own: this file is compiled and never run.

import { Agent, run, RunState } from "@openai/agents";
import { generateText, type ModelMessage } from "ai";
import { generateText as generateText6, type ModelMessage as ModelMessage6 } from "ai6";
import { Client, gate, type Hold } from "holdpoint";
import { decide as decideAiSdk } from "holdpoint/ai-sdk";
import { decide as decideOpenAi } from "holdpoint/openai-agents";
import { z } from "zod";

const client = new Client();

export async function onOpenAi(agent: Agent, text: string): Promise<void> {
  const state = await RunState.fromString(agent, text);
  const asked = await decideOpenAi(state, client, { run: "1" });
  await asked.report(await run(agent, state));
}

export async function onAiSdk(messages: ModelMessage[], old: ModelMessage6[]): Promise<void> {
  const asked = await decideAiSdk(messages, client, { run: "1", risk: "high" });
  if (asked.message) messages.push(asked.message);
  await generateText({ model: "m", messages });
  const before = await decideAiSdk(old, client, { run: "1" });
  if (before.message) old.push(before.message);
  await generateText6({ model: "m", messages: old });
}

interface Refund {
  customer: string;
  amount: number;
}

export async function onFunctions(hold: Hold): Promise<string> {
  const schema = z.object({ customer: z.string(), amount: z.number() });
  const refund = gate(async ({ customer }: Refund) => customer, { schema, check: ({ amount }) => amount < 100 });
  // @ts-expect-error the arguments keep their types
  await refund({ customer: 7 });
  const state: "pending" | "approved" | "denied" | "answered" | "expired" | "cancelled" = hold.state;
  return (await refund({ customer: state, amount: 1 }, { key: "k" })).toUpperCase();
}
