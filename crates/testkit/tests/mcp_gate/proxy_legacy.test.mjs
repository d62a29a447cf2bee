// The official client with a handshake, before the filesystem server.

import assert from "node:assert/strict";
import { test } from "node:test";
import { legacy, text } from "./clients.mjs";
import { files, proxyCases, target } from "./proxy_cases.mjs";
import { world } from "./world.mjs";

proxyCases(legacy);

test("sdk 1.32.2: asked in the client, the owner of the token approves and declines", async (t) => {
  const w = await world(t);
  const { ElicitRequestSchema } = await import("@modelcontextprotocol/sdk/types.js");
  const answers = [{ action: "accept", content: { decision: "approve" } }, { action: "decline" }];
  const asked = [];
  const client = await legacy.connect(t, w, files(w, "--answer-in-client"), {
    capabilities: { elicitation: {} },
    env: { HOLDPOINT_TOKEN: w.tokens.person_token },
    prepare: (client) =>
      client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
        assert.ok(!w.has("proof.txt") || asked.length > 0);
        asked.push(params.message);
        return answers[asked.length - 1];
      }),
  });
  const first = await legacy.call(client, "write_file", target(w));
  assert.ok(!first.isError && w.has("proof.txt"), text(first));
  assert.match(asked[0], /files__write_file[\s\S]*proof\.txt/);
  const second = await legacy.call(client, "write_file", target(w, "second.txt"));
  assert.equal(second.isError, true);
  assert.ok(!w.has("second.txt"));
});

test("sdk 1.32.2: a form that is open in the client is taken back when it is decided elsewhere", async (t) => {
  const w = await world(t);
  const { ElicitRequestSchema } = await import("@modelcontextprotocol/sdk/types.js");
  let takenBack;
  const isTakenBack = new Promise((done) => (takenBack = done));
  const client = await legacy.connect(t, w, files(w, "--answer-in-client"), {
    capabilities: { elicitation: {} },
    env: { HOLDPOINT_TOKEN: w.tokens.person_token },
    prepare: (client) =>
      client.setRequestHandler(ElicitRequestSchema, async (_, { signal }) => {
        w.approve();
        await new Promise((done) => signal.addEventListener("abort", done));
        takenBack();
        return { action: "cancel" };
      }),
  });
  const result = await legacy.call(client, "write_file", target(w));
  assert.ok(!result.isError && w.has("proof.txt"), text(result));
  await isTakenBack;
});

for (const [who, token, tool] of [
  ["a program", "program_token", "write_file"],
  ["a person whom the rule does not ask", "person_token", "create_directory"],
]) {
  test(`sdk 1.32.2: ${who} is not asked in the client, although it would say yes`, async (t) => {
    const w = await world(t);
    const { ElicitRequestSchema } = await import("@modelcontextprotocol/sdk/types.js");
    const asked = [];
    const client = await legacy.connect(t, w, files(w, "--answer-in-client", "--wait", "2s"), {
      capabilities: { elicitation: {} },
      env: { HOLDPOINT_TOKEN: w.tokens[token] },
      prepare: (client) =>
        client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
          asked.push(params);
          return { action: "accept", content: { decision: "approve" } };
        }),
    });
    const result = await legacy.call(client, tool, target(w));
    assert.equal(result.isError, true);
    assert.deepEqual(asked, []);
    assert.ok(!w.has("proof.txt"));
  });
}
