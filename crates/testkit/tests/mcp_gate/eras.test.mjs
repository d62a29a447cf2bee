// Clients of one era before upstreams of the other: the official clients, told one era each, and the public servers.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { legacy, modern, text } from "./clients.mjs";
import { legacyHttp, modernHttp } from "./door.mjs";
import { modernMeta, raw } from "./raw.mjs";
import { MCP_PYTHON, world } from "./world.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const FILES = [process.execPath, here("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js")];
const EVERYTHING = [process.execPath, here("node_modules/@modelcontextprotocol/server-everything/dist/index.js")];
const WRITER = (room) => [process.execPath, here("modern_only.mjs"), MCP_PYTHON, "-B", here("upstream.py"), room];
/** Only 2026-07-28: there is no handshake to fall back to. */
const PINNED = { versionNegotiation: { mode: { pin: "2026-07-28" } } };

const proxied = (w, name, command, ...options) => ["proxy", "--name", name, ...options, "--", ...command];
const toml = (name, argv) => `\n[mcp.upstreams.${name}]\nargv = ${JSON.stringify(argv)}\n`;
const fronted = (room) => toml("files", [...FILES, room]) + toml("all", EVERYTHING) + toml("writer", WRITER(room));

/** The same upstream for a client of each wire. */
const wires = {
  stdio: { modern, legacy, more: () => "", args: (w, name, command) => proxied(w, name, command) },
  http: { modern: modernHttp, legacy: legacyHttp, more: fronted, args: (_w, name) => `/mcp/${name}` },
};

for (const [wire, { modern, legacy, more, args }] of Object.entries(wires)) {
  const say = (what) => `${wire}: ${what}`;

  test(say("a client without a handshake before the filesystem server: a file is written only after approval"), async (t) => {
    const w = await world(t, more);
    const client = await modern.connect(t, w, args(w, "files", [...FILES, w.room]), { more: PINNED });
    assert.equal(client.getNegotiatedProtocolVersion(), "2026-07-28");
    const { tools } = await client.listTools();
    assert.ok(tools.some((tool) => tool.name === "write_file" && tool.inputSchema.type === "object"));
    assert.ok(!(await modern.call(client, "list_directory", { path: w.room })).isError);
    const target = { path: join(w.room, "proof.txt"), content: "yes" };
    const calling = modern.call(client, "write_file", target);
    await w.hold();
    assert.ok(!w.has("proof.txt"));
    await w.approve();
    const result = await calling;
    assert.ok(!result.isError && w.has("proof.txt"), text(result));
    const denied = modern.call(client, "write_file", { ...target, path: join(w.room, "denied.txt") });
    await w.answer({ verdict: "deny", reason: "not that one" });
    assert.match(text(await denied), /not that one/);
    assert.ok(!w.has("denied.txt"));
  });

  test(say("what a legacy upstream asks in a call is shown to a client without a handshake, and the call is made once"), async (t) => {
    const w = await world(t, more);
    const asked = [];
    const client = await modern.connect(t, w, args(w, "all", EVERYTHING), {
      capabilities: { elicitation: { form: {} }, sampling: {} },
      more: PINNED,
      prepare: (client) => {
        client.setRequestHandler("elicitation/create", ({ params }) => {
          asked.push(params);
          return { action: "accept", content: { name: "Ana", check: true } };
        });
        client.setRequestHandler("sampling/createMessage", () => ({ model: "m", role: "assistant", content: { type: "text", text: "sampled" } }));
      },
    });
    const eliciting = modern.call(client, "trigger-elicitation-request", {});
    const hold = await w.hold();
    assert.deepEqual(asked, [], "nothing is asked before the call is approved");
    await w.approve();
    const result = await eliciting;
    assert.match(text(result), /Ana/);
    assert.equal(asked.length, 1);
    assert.equal(asked[0].mode, "form");
    assert.equal((await w.settled(hold.id)).outcome.state, "succeeded");
    const sampling = modern.call(client, "trigger-sampling-request", { prompt: "say it", maxTokens: 5 });
    await w.approve((hold) => /sampling/.test(hold.call.tool));
    assert.match(text(await sampling), /sampled/);
    const { resources } = await client.listResources();
    assert.ok((await client.readResource({ uri: resources[0].uri })).contents.length > 0);
    assert.ok((await client.listPrompts()).prompts.length > 0);
  });

  test(say("a client with a handshake before an upstream that has none: a file is written only after approval"), async (t) => {
    const w = await world(t, more);
    const client = await legacy.connect(t, w, args(w, "writer", WRITER(w.room)));
    assert.equal(client.getServerVersion().name, "writer");
    const listed = await client.listTools();
    assert.ok(listed.tools.some((tool) => tool.name === "write"));
    assert.deepEqual(["resultType", "ttlMs", "cacheScope"].filter((key) => key in listed), []);
    await client.ping();
    assert.ok(!(await legacy.call(client, "list_directory", { path: w.room })).isError);
    const calling = legacy.call(client, "write", { name: "proof.txt", text: "yes" });
    await w.hold();
    assert.ok(!w.has("proof.txt"));
    await w.approve();
    const result = await calling;
    assert.ok(!result.isError && w.has("proof.txt"), text(result));
    assert.equal(result.resultType, undefined);
  });

  test(say("what a modern upstream asks in a call is asked of a client with a handshake"), async (t) => {
    const w = await world(t, more);
    const asked = [];
    const client = await legacy.connect(t, w, args(w, "writer", WRITER(w.room)), {
      capabilities: { elicitation: {} },
      prepare: (client) =>
        client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
          asked.push(params.message);
          return { action: "accept", content: { name: "Ana" } };
        }),
    });
    const signing = legacy.call(client, "sign", { name: "signed.txt" });
    const hold = await w.hold();
    assert.deepEqual(asked, []);
    assert.ok(!w.has("signed.txt"));
    await w.approve();
    const result = await signing;
    assert.match(text(result), /signed by Ana/);
    assert.deepEqual(asked, ["Who signs?"]);
    assert.ok(w.has("signed.txt"));
    assert.equal((await w.settled(hold.id)).outcome.state, "succeeded");
    assert.equal((await w.pending()).length, 0, "one approval covers the whole call");
  });
}

test("several upstreams of both eras are one server to a client of each era", async (t) => {
  const w = await world(t);
  const [program, ...args] = WRITER(w.room);
  const config = { mcpServers: { files: { command: FILES[0], args: [FILES[1], w.room] }, writer: { command: program, args } } };
  writeFileSync(join(w.home, "mcp.json"), JSON.stringify(config));
  for (const [kind, more] of [[legacy, {}], [modern, PINNED]]) {
    const client = await kind.connect(t, w, ["proxy", "--config", "mcp.json"], { more });
    const names = (await client.listTools()).tools.map((tool) => tool.name);
    assert.ok(names.includes("files__write_file") && names.includes("writer__write"), String(names));
    const name = kind === modern ? "m.txt" : "l.txt";
    const writing = kind.call(client, "writer__write", { name, text: "yes" });
    const hold = await w.hold();
    assert.equal(hold.call.tool, "writer__write");
    assert.ok(!w.has(name));
    await w.approve();
    assert.ok(!(await writing).isError && w.has(name));
    const copy = `files-${name}`;
    const copying = kind.call(client, "files__write_file", { path: join(w.room, copy), content: "yes" });
    await w.approve((hold) => hold.call.tool === "files__write_file");
    assert.ok(!(await copying).isError && w.has(copy));
    await client.close();
  }
});

test("a held call answers once: a state that is forged, replayed or of another call reaches no upstream", async (t) => {
  const w = await world(t);
  const client = raw(t, w, proxied(w, "all", EVERYTHING));
  const _meta = modernMeta({ elicitation: {} });
  const call = (id, args, more = {}) => client.request(id, "tools/call", { name: "trigger-elicitation-request", arguments: args, _meta, ...more });
  const calling = call(1, {});
  await w.approve();
  const { result } = await calling;
  assert.equal(result.resultType, "input_required", JSON.stringify(result));
  const [key] = Object.keys(result.inputRequests);
  const inputResponses = { [key]: { action: "accept", content: { name: "Ana" } } };
  const { requestState } = result;
  const forged = await call(2, {}, { requestState: "holdpoint-held-AAAA", inputResponses });
  assert.equal(forged.result.isError, true);
  const other = await call(3, { x: 1 }, { requestState, inputResponses });
  assert.equal(other.result.isError, true, "another call has no part in it");
  const done = await call(4, {}, { requestState, inputResponses });
  assert.ok(!done.result.isError, done.line);
  assert.match(text(done.result), /Ana/);
  const replayed = await call(5, {}, { requestState, inputResponses });
  assert.equal(replayed.result.isError, true);
  assert.equal((await w.pending()).length, 0);
});

test("in a task the upstream's question is shown, and the answer goes on with the call", async (t) => {
  const w = await world(t);
  const client = raw(t, w, proxied(w, "all", EVERYTHING));
  const _meta = modernMeta({ elicitation: {}, extensions: { "io.modelcontextprotocol/tasks": {} } });
  let id = 0;
  const request = (method, params) => client.request((id += 1), method, { ...params, _meta });
  const until = async (taskId, status) => {
    for (let tries = 0; tries < 400; tries += 1) {
      const { result } = await request("tasks/get", { taskId });
      if (result.status === status) return result;
      await new Promise((done) => setTimeout(done, 25));
    }
    return assert.fail(`the task is not ${status}`);
  };
  const { result: task } = await request("tools/call", { name: "trigger-elicitation-request", arguments: {} });
  assert.equal(task.resultType, "task");
  await w.approve();
  const asking = await until(task.taskId, "input_required");
  const [key] = Object.keys(asking.inputRequests);
  assert.equal(asking.inputRequests[key].method, "elicitation/create");
  await request("tasks/update", { taskId: task.taskId, inputResponses: { [key]: { action: "accept", content: { name: "Ana" } } } });
  const done = await until(task.taskId, "completed");
  assert.match(text(done.result), /Ana/);
});
