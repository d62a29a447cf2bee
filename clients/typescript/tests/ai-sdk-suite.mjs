// What both versions of the AI SDK are asked.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { decide } from "holdpoint/ai-sdk";

import { days, goesOnAfterARestart } from "./frameworks.mjs";
import { Server } from "./server.mjs";

export async function suite(packageName, name) {
  process.env.HOLDPOINT_AI = packageName;
  const { step } = await import("../examples/ai-sdk.mjs");
  let server;
  before(async () => {
    server = await Server.start();
  });
  after(() => server.close());

  const go = async (folder, client, texts, options) => {
    let messages = [{ role: "user", content: "go" }];
    await step(folder, texts, messages);
    // Through text and back, as a process would that was started again.
    messages = JSON.parse(JSON.stringify(messages));
    const asked = await decide(messages, client, options);
    assert.equal(asked.message.content.length, texts.length);
    messages.push(asked.message);
    const said = await step(folder, texts, messages);
    await asked.report(messages);
    assert.equal((await decide(messages, client, options)).message, undefined, "each request has its response");
    return said;
  };

  test(`${name}: approved, denied, edited, two at once, used once, expired, without a server`, () => days(server, go));
  test(`${name}: killed while it waits, the agent goes on after a restart`, () =>
    goesOnAfterARestart(server, "ai-sdk.mjs", { HOLDPOINT_AI: packageName }));
}
