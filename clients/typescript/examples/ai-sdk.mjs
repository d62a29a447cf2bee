// An agent of the AI SDK that stops before its tool runs: `ai-sdk.mjs [FOLDER] [RUN]`.
//
// The model is scripted, so no key is needed. Start `holdpoint demo`, set the two variables that it prints for a program, and
// answer on the page. Kill it while it waits and start it again: its messages are on disk, and it goes on where it was.
// HOLDPOINT_AI names another package than `ai`, such as an older version under an alias.

import { appendFileSync, existsSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Client } from "holdpoint";
import { decide } from "holdpoint/ai-sdk";
import { z } from "zod";

const sdk = process.env.HOLDPOINT_AI ?? "ai";
const { generateText, stepCountIs, isStepCount, tool } = await import(sdk);
const testing = await import(`${sdk}/test`);
const Mock = testing.MockLanguageModelV4 ?? testing.MockLanguageModelV3;

/** Asks for the calls, and then says what came of them. */
function scripted(texts) {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  return new Mock({
    doGenerate: async ({ prompt }) => {
      const told = prompt.filter(({ role }) => role === "tool").flatMap(({ content }) => content);
      const results = told.filter(({ type }) => type === "tool-result");
      const said = results.map(({ output }) => output.value ?? output.reason ?? output.type).join(" | ");
      const calls = texts.map((text, at) => ({
        type: "tool-call",
        toolCallId: `call_${at}`,
        toolName: "append",
        input: JSON.stringify({ text }),
      }));
      const content = results.length ? [{ type: "text", text: said }] : calls;
      const finishReason = { unified: results.length ? "stop" : "tool-calls", raw: undefined };
      return { content, finishReason, usage, warnings: [] };
    },
  });
}

/** One call of the model, and of the tools that may run; the messages grow. */
export async function step(folder, texts, messages) {
  const append = tool({
    description: "Appends a line to the file.",
    inputSchema: z.object({ text: z.string() }),
    needsApproval: true,
    execute: async ({ text }) => {
      appendFileSync(join(folder, "proof.txt"), `${text}\n`);
      return `appended ${text}`;
    },
  });
  const stopWhen = (stepCountIs ?? isStepCount)(1);
  const result = await generateText({ model: scripted(texts), tools: { append }, stopWhen, messages });
  // Version 7 has all of them in `responseMessages`, the results of approved tools included.
  messages.push(...(result.responseMessages ?? result.response.messages));
  return result.text;
}

async function main(folder, run) {
  const [kept, done] = [join(folder, "messages.json"), join(folder, "said.txt")];
  if (!existsSync(done)) {
    if (!existsSync(kept)) {
      const messages = [{ role: "user", content: "go" }];
      await step(folder, ["once"], messages);
      writeFileSync(kept, JSON.stringify(messages));
    }
    const messages = JSON.parse(readFileSync(kept, "utf8"));
    const asked = await decide(messages, new Client(), { run });
    messages.push(asked.message);
    const said = await step(folder, ["once"], messages);
    await asked.report(messages);
    writeFileSync(done, said);
  }
  console.log(readFileSync(done, "utf8"));
}

if (realpathSync(process.argv[1]) === import.meta.filename) await main(process.argv[2] ?? ".", process.argv[3] ?? "ai-sdk-1");
