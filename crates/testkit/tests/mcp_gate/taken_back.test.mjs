// A server takes back what it asked in the course of a call, and clients of each era are told as their era tells it.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { legacy, modern, text } from "./clients.mjs";
import { legacyHttp, modernHttp } from "./door.mjs";
import { modernMeta, raw } from "./raw.mjs";
import { world } from "./world.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const EVERYTHING = [process.execPath, here("node_modules/@modelcontextprotocol/server-everything/dist/index.js")];
const TAKING_BACK = (room) => [process.execPath, here("taking_back.mjs"), room];
const PINNED = { versionNegotiation: { mode: { pin: "2026-07-28" } } };

const toml = (name, argv) => `\n[mcp.upstreams.${name}]\nargv = ${JSON.stringify(argv)}\n`;
const fronted = (room) => toml("all", EVERYTHING) + toml("fickle", TAKING_BACK(room));
const proxied = (name, command) => ["proxy", "--name", name, "--", ...command];

async function until(isSo) {
  while (!isSo()) await new Promise((done) => setTimeout(done, 10));
}

const ASKED = { elicitation: ElicitRequestSchema, sampling: CreateMessageRequestSchema, roots: ListRootsRequestSchema };
const takeBack = (w) => writeFileSync(join(w.room, "take-back"), "");
const late = (w) => (w.has("late") ? readFileSync(join(w.room, "late"), "utf8") : "");

/** Several servers, so that names have a prefix and ids are ours. */
function prefixed(w) {
  const [program, ...rest] = TAKING_BACK(w.room);
  const mcpServers = { fickle: { command: program, args: rest }, all: { command: EVERYTHING[0], args: EVERYTHING.slice(1) } };
  writeFileSync(join(w.home, "mcp.json"), JSON.stringify({ mcpServers }));
  return ["proxy", "--config", "mcp.json"];
}

const ways = [
  ["stdio", legacy, modern, () => "", (w) => proxied("fickle", TAKING_BACK(w.room)), "ask"],
  ["stdio, several upstreams", legacy, modern, () => "", prefixed, "fickle__ask"],
  ["http", legacyHttp, modernHttp, fronted, () => "/mcp/fickle", "ask"],
  ["http, several upstreams", legacyHttp, modernHttp, fronted, () => "/mcp", "fickle__ask"],
];
for (const [way, legacy, modern, more, args, tool] of ways) {
  for (const [what, schema] of Object.entries(ASKED)) {
    test(`${way}: an upstream takes its question back (${what}), and a client with a handshake hears it`, async (t) => {
      const w = await world(t, more);
      let asked;
      const client = await legacy.connect(t, w, args(w), {
        capabilities: { [what]: {} },
        prepare: (client) =>
          client.setRequestHandler(schema, (_, { signal }) => {
            asked = signal;
            return new Promise((_, fail) => signal.addEventListener("abort", () => fail(new Error("taken back"))));
          }),
      });
      const calling = legacy.call(client, tool, { what });
      await w.approve();
      await until(() => asked);
      assert.ok(!asked.aborted);
      takeBack(w);
      await until(() => asked.aborted);
      assert.equal(text(await calling), "it was taken back");
      assert.equal(late(w), "");
    });
  }

  test(`${way}: the answer of a client without a handshake to a question that was taken back goes nowhere, and the call goes on`, async (t) => {
    const w = await world(t, more);
    const client = await modern.connect(t, w, args(w), {
      capabilities: { elicitation: { form: {} } },
      more: PINNED,
      prepare: (client) =>
        client.setRequestHandler("elicitation/create", async () => {
          takeBack(w);
          await until(() => w.has("taken-back"));
          return { action: "accept", content: { name: "Ana" } };
        }),
    });
    const calling = modern.call(client, tool, { what: "elicitation" });
    const hold = await w.approve();
    assert.equal(text(await calling), "it was taken back");
    // What the upstream got before this, it has read.
    await client.listTools();
    assert.equal(late(w), "");
    assert.equal((await w.settled(hold.id)).outcome.state, "succeeded");
  });
}

test("a question that is taken back is not shown again, and the next one of the same call is", async (t) => {
  const w = await world(t);
  const client = raw(t, w, proxied("fickle", TAKING_BACK(w.room)));
  const params = { name: "ask", arguments: { what: "elicitation", again: true }, _meta: modernMeta({ elicitation: {} }) };
  const calling = client.request(1, "tools/call", params);
  await w.approve();
  const { result: first } = await calling;
  const [[key, question]] = Object.entries(first.inputRequests);
  assert.equal(question.params.message, "Who?");
  takeBack(w);
  await until(() => w.has("taken-back"));
  // The client has no answer yet, and asks how the call stands.
  const again = await client.request(2, "tools/call", { ...params, requestState: first.requestState, inputResponses: {} });
  const [[next, { params: { message } }], ...others] = Object.entries(again.result.inputRequests);
  assert.deepEqual([message, others], ["And now?", []]);
  assert.notEqual(next, key);
  const accept = { action: "accept", content: { name: "Ana" } };
  const done = await client.request(3, "tools/call", { ...params, requestState: again.result.requestState, inputResponses: { [key]: accept, [next]: accept } });
  assert.equal(text(done.result), "it was taken back, and Ana said the rest");
  await client.request(4, "tools/list", { _meta: params._meta });
  assert.equal(late(w), "");
  assert.equal((await w.pending()).length, 0, "one approval covers the whole call");
});

for (const again of [false, true]) {
  test(`a task whose question is taken back ${again ? "shows the next one" : "ends without an answer"}`, async (t) => {
    const w = await world(t);
    const client = raw(t, w, proxied("fickle", TAKING_BACK(w.room)));
    const _meta = modernMeta({ elicitation: {}, extensions: { "io.modelcontextprotocol/tasks": {} } });
    let id = 0;
    const request = async (method, params) => (await client.request((id += 1), method, { ...params, _meta })).result;
    const become = async (taskId, fits) => {
      for (;;) {
        const task = await request("tasks/get", { taskId });
        if (fits(task)) return task;
        await new Promise((done) => setTimeout(done, 20));
      }
    };
    const { taskId } = await request("tools/call", { name: "ask", arguments: { what: "elicitation", again } });
    await w.approve();
    const asking = await become(taskId, ({ status }) => status === "input_required");
    const [key] = Object.keys(asking.inputRequests);
    takeBack(w);
    if (again) {
      const next = await become(taskId, ({ inputRequests }) => inputRequests && !(key in inputRequests));
      const [[other, { params }]] = Object.entries(next.inputRequests);
      assert.equal(params.message, "And now?");
      await request("tasks/update", { taskId, inputResponses: { [other]: { action: "accept", content: { name: "Ana" } } } });
    }
    const done = await become(taskId, ({ status }) => status === "completed");
    await request("tools/list", {});
    assert.equal(text(done.result), again ? "it was taken back, and Ana said the rest" : "it was taken back");
    assert.equal(late(w), "");
    assert.equal((await w.settled(taskId)).outcome.state, "succeeded");
  });
}

test("a task that is cancelled while its question is open tells the upstream at once", async (t) => {
  const w = await world(t);
  const client = raw(t, w, proxied("fickle", TAKING_BACK(w.room)));
  const _meta = modernMeta({ elicitation: {}, extensions: { "io.modelcontextprotocol/tasks": {} } });
  let id = 0;
  const request = async (method, params) => (await client.request((id += 1), method, { ...params, _meta })).result;
  const status = async (taskId) => (await request("tasks/get", { taskId })).status;
  const { taskId } = await request("tools/call", { name: "ask", arguments: { what: "elicitation" } });
  await w.approve();
  while ((await status(taskId)) !== "input_required") await new Promise((done) => setTimeout(done, 20));
  assert.ok(!w.has("cancelled"));
  await request("tasks/cancel", { taskId });
  // What waits for an answer is given up by itself only after ten minutes.
  await until(() => w.has("cancelled"));
  assert.equal(await status(taskId), "cancelled");
  const { outcome } = await w.settled(taskId);
  assert.equal(outcome.state, "failed");
  assert.match(JSON.stringify(outcome), /cancelled it while it was asked something/);
});

for (const era of ["legacy", "modern"]) {
  test(`a task that is cancelled while an upstream (${era}) works on it tells the upstream at once`, async (t) => {
    const w = await world(t);
    writeFileSync(join(w.room, "tools.json"), JSON.stringify([{ name: "hang", description: "Hangs.", inputSchema: { type: "object" } }]));
    const received = () => (w.has("received") ? readFileSync(join(w.room, "received"), "utf8").split("\n") : []);
    const find = (method) => received().filter((line) => line.includes(`"${method}"`)).map((line) => JSON.parse(line));
    const client = raw(t, w, [...proxied("stub", [process.execPath, here("stub.mjs"), w.room]), era]);
    const _meta = modernMeta({ extensions: { "io.modelcontextprotocol/tasks": {} } });
    const { result: task } = await client.request(1, "tools/call", { name: "hang", arguments: {}, _meta });
    const hold = await w.approve();
    await until(() => find("tools/call").length === 1);
    assert.deepEqual(find("notifications/cancelled"), []);
    await client.request(2, "tasks/cancel", { taskId: task.taskId, _meta });
    await until(() => find("notifications/cancelled").length > 0);
    const [[sent], [cancelled]] = [find("tools/call"), find("notifications/cancelled")];
    assert.equal(cancelled.params.requestId, sent.id);
    const { result } = await client.request(3, "tasks/get", { taskId: task.taskId, _meta });
    assert.equal(result.status, "cancelled");
    assert.equal((await w.api(`/v1/holds/${hold.id}`)).outcome.state, "executing", "nobody knows what it did");
  });
}
