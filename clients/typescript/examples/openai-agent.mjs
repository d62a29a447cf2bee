// An agent of the OpenAI Agents SDK that stops before its tool runs: `openai-agent.mjs [FOLDER] [RUN]`.
//
// The model is scripted, so no key is needed. Start `holdpoint demo`, set the two variables that it prints for a program, and
// answer on the page. Kill it while it waits and start it again: its state is on disk, and it goes on where it was.

import { appendFileSync, existsSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Agent, run, RunState, setTracingDisabled, tool, Usage } from "@openai/agents";
import { Client } from "holdpoint";
import { decide } from "holdpoint/openai-agents";
import { z } from "zod";

setTracingDisabled(true);

/** Asks for the calls, and then says what came of them. */
class Scripted {
  constructor(texts) {
    this.texts = texts;
  }

  async getResponse({ input }) {
    const told = Array.isArray(input) ? input.filter((item) => item.type === "function_call_result") : [];
    const calls = this.texts.map((text, at) => ({
      type: "function_call",
      callId: `call_${at}`,
      name: "append",
      arguments: JSON.stringify({ text }),
      status: "completed",
    }));
    const said = told.map(({ output }) => (typeof output === "string" ? output : output.text)).join(" | ");
    const words = [{ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: said }] }];
    return { usage: new Usage(), output: told.length ? words : calls };
  }

  async *getStreamedResponse() {
    throw new Error("not used here");
  }
}

export function agent(folder, ...texts) {
  const append = tool({
    name: "append",
    description: "Appends a line to the file.",
    parameters: z.object({ text: z.string() }),
    needsApproval: true,
    execute: async ({ text }) => {
      appendFileSync(join(folder, "proof.txt"), `${text}\n`);
      return `appended ${text}`;
    },
  });
  return new Agent({ name: "writer", model: new Scripted(texts), tools: [append] });
}

async function main(folder, name) {
  const [kept, done] = [join(folder, "state.json"), join(folder, "said.txt")];
  const writer = agent(folder, "once");
  if (!existsSync(done)) {
    if (!existsSync(kept)) writeFileSync(kept, (await run(writer, "go")).state.toString());
    const state = await RunState.fromString(writer, readFileSync(kept, "utf8"));
    const asked = await decide(state, new Client(), { run: name });
    const result = await run(writer, state);
    await asked.report(result);
    writeFileSync(done, String(result.finalOutput));
  }
  console.log(readFileSync(done, "utf8"));
}

if (realpathSync(process.argv[1]) === import.meta.filename) await main(process.argv[2] ?? ".", process.argv[3] ?? "openai-1");
