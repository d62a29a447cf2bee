// The OpenAI Agents SDK itself, with a scripted model.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { run, RunState } from "@openai/agents";
import { decide } from "holdpoint/openai-agents";

import { agent } from "../examples/openai-agent.mjs";
import { days, goesOnAfterARestart } from "./frameworks.mjs";
import { Server } from "./server.mjs";

let server;
before(async () => {
  server = await Server.start();
});
after(() => server.close());

async function go(folder, client, texts, options) {
  const writer = agent(folder, ...texts);
  const stopped = await run(writer, "go");
  assert.equal(stopped.interruptions.length, texts.length);
  // Through text and back, as a process would that was started again.
  const state = await RunState.fromString(writer, stopped.state.toString());
  const asked = await decide(state, client, options);
  const result = await run(writer, state);
  await asked.report(result);
  return result.finalOutput;
}

test("OpenAI Agents: approved, denied, edited, two at once, used once, expired, without a server", () => days(server, go));

test("OpenAI Agents: killed while it waits, the agent goes on after a restart", () =>
  goesOnAfterARestart(server, "openai-agent.mjs"));
