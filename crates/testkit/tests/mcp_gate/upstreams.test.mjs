// Upstreams of the modern era, several at once, and one that uses everything that is passed on.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { legacy, modern, text } from "./clients.mjs";
import { modernMeta, raw } from "./raw.mjs";
import { MCP_PYTHON, world } from "./world.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const WRITER = here("upstream.py");
const FILES = here("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");
const EVERYTHING = here("node_modules/@modelcontextprotocol/server-everything/dist/index.js");

const writer = (w, ...options) => ["proxy", "--name", "writer", ...options, "--", MCP_PYTHON, "-B", WRITER, w.room];
const everything = (...options) => ["proxy", "--name", "all", ...options, "--", process.execPath, EVERYTHING];
const proof = { name: "proof.txt", text: "yes" };
const TASKS = { extensions: { "io.modelcontextprotocol/tasks": {} } };

test("modern upstream: the call is kept open until a person approves", async (t) => {
  const w = await world(t);
  const client = await modern.connect(t, w, writer(w));
  assert.equal(client.getNegotiatedProtocolVersion(), "2026-07-28");
  const calling = modern.call(client, "write", proof);
  const hold = await w.hold();
  assert.ok(!w.has("proof.txt"));
  assert.equal(hold.context.says_it_is, "writer 1.0");
  await w.approve();
  const result = await calling;
  assert.ok(!result.isError && w.has("proof.txt"), text(result));
});

test("modern upstream: a form in the client is the answer of the token's owner", async (t) => {
  const w = await world(t);
  const asked = [];
  const client = await modern.connect(t, w, writer(w, "--answer-in-client"), {
    capabilities: { elicitation: { form: {} } },
    env: { HOLDPOINT_TOKEN: w.tokens.person_token },
    prepare: (client) =>
      client.setRequestHandler("elicitation/create", ({ params }) => {
        asked.push(params.message);
        const decision = asked.length === 1 ? "approve" : "deny";
        return { action: "accept", content: { decision, reason: "enough" } };
      }),
  });
  const first = await modern.call(client, "write", proof);
  assert.ok(!first.isError && w.has("proof.txt"), text(first));
  assert.match(asked[0], /writer__write[\s\S]*proof\.txt/);
  const second = await modern.call(client, "write", { name: "second.txt", text: "no" });
  assert.match(text(second), /enough/);
  assert.ok(!w.has("second.txt"));
});

test("modern upstream: forged, replayed and foreign states approve nothing", async (t) => {
  const w = await world(t);
  const client = raw(t, w, writer(w, "--answer-in-client", "--wait", "1s"), { HOLDPOINT_TOKEN: w.tokens.person_token });
  const _meta = modernMeta({ elicitation: {} });
  const yes = { approval: { action: "accept", content: { decision: "approve" } } };
  const call = (id, args, more = {}) => client.request(id, "tools/call", { name: "write", arguments: args, _meta, ...more });
  const forged = await call(1, proof, { requestState: "holdpoint-form-cli-AAAA", inputResponses: yes });
  assert.equal(forged.result.resultType, "input_required");
  const { requestState } = forged.result;
  const foreign = await call(2, { name: "other.txt", text: "x" }, { requestState, inputResponses: yes });
  assert.equal(foreign.result.resultType, "input_required");
  const again = await call(3, proof, { requestState, inputResponses: yes });
  assert.equal(again.result.resultType, "input_required", "the state was used up");
  assert.ok(!w.has("proof.txt") && !w.has("other.txt"));
  const good = { requestState: again.result.requestState, inputResponses: yes };
  const done = await call(4, proof, good);
  assert.ok(!done.result.isError && w.has("proof.txt"), done.line);
  const replayed = await call(5, proof, good);
  assert.equal(replayed.result.resultType, "input_required", "the same call is asked about again");
});

test("modern upstream: a form is not shown to somebody whom the rule does not ask", async (t) => {
  const w = await world(t);
  const client = raw(t, w, writer(w, "--answer-in-client", "--wait", "1s"), { HOLDPOINT_TOKEN: w.tokens.person_token });
  const _meta = modernMeta({ elicitation: {} });
  const reply = await client.request(1, "tools/call", { name: "create_directory", arguments: { name: "d" }, _meta });
  assert.equal(reply.result.isError, true, reply.line);
  assert.ok(!w.has("d"));
});

test("modern upstream: a task waits, runs after approval, and is told denied as completed", async (t) => {
  const w = await world(t);
  const client = raw(t, w, writer(w));
  const _meta = modernMeta(TASKS);
  let id = 0;
  const request = (method, params) => client.request((id += 1), method, { ...params, _meta });
  const settled = async (taskId) => {
    for (;;) {
      const { result } = await request("tasks/get", { taskId });
      if (result.status !== "working") return result;
      await new Promise((done) => setTimeout(done, 20));
    }
  };
  const { result: task } = await request("tools/call", { name: "write", arguments: proof });
  assert.deepEqual([task.resultType, task.status], ["task", "working"]);
  const hold = await w.hold();
  assert.equal(task.taskId, hold.id, "it is on disk");
  const { result: working } = await request("tasks/get", { taskId: task.taskId });
  assert.deepEqual([working.resultType, working.status], ["complete", "working"]);
  assert.ok(!w.has("proof.txt"));
  await w.approve();
  const done = await settled(task.taskId);
  assert.equal(done.status, "completed");
  assert.ok(!done.result.isError && w.has("proof.txt"), JSON.stringify(done));

  const { result: second } = await request("tools/call", { name: "write", arguments: { name: "no.txt", text: "" } });
  await w.answer({ verdict: "deny", reason: "no" });
  const denied = await settled(second.taskId);
  assert.deepEqual([denied.status, denied.result.isError], ["completed", true]);

  const { result: third } = await request("tools/call", { name: "write", arguments: { name: "gone.txt", text: "" } });
  const open = await w.hold();
  await request("tasks/cancel", { taskId: third.taskId });
  assert.equal((await w.settled(open.id)).state, "cancelled");
  assert.equal((await settled(third.taskId)).status, "cancelled");
  assert.ok(!w.has("no.txt") && !w.has("gone.txt"));
});

/** Tasks over one wire, as a test asks for them. */
function tasksOf(client) {
  const _meta = modernMeta(TASKS);
  let id = 0;
  const request = async (method, params) => (await client.request((id += 1), method, { ...params, _meta })).result;
  return {
    request,
    begin: () => request("tools/call", { name: "write", arguments: proof }),
    async until(tasks, fits) {
      for (;;) {
        const found = [];
        for (const { taskId } of tasks) found.push(await request("tasks/get", { taskId }));
        if (fits(found)) return found;
        await new Promise((done) => setTimeout(done, 20));
      }
    },
  };
}
const isOver = ({ status }) => status !== "working";

test("modern upstream: two equal tasks are two tasks, and each runs after an approval of its own", async (t) => {
  const w = await world(t);
  const { begin, until } = tasksOf(raw(t, w, writer(w)));
  const tasks = [await begin(), await begin()];
  assert.deepEqual(tasks.map(({ status }) => status), ["working", "working"]);
  assert.notEqual(tasks[0].taskId, tasks[1].taskId);
  const asked = await w.approve();
  const first = await until(tasks, (found) => found.some(isOver));
  assert.deepEqual(first.map(({ status }) => status).sort(), ["completed", "working"], "one approval is for one call");
  const again = await w.approve();
  assert.notEqual(again.id, asked.id);
  for (const { status, result } of await until(tasks, (found) => found.every(isOver))) {
    assert.ok(status === "completed" && !result.isError && text(result).includes("written"), JSON.stringify(result));
  }
  for (const hold of [asked, again]) assert.equal((await w.settled(hold.id)).outcome.state, "succeeded");
});

test("modern upstream: of two equal tasks one is cancelled, and the other keeps its question", async (t) => {
  const w = await world(t);
  const { begin, until, request } = tasksOf(raw(t, w, writer(w)));
  const [first, second] = [await begin(), await begin()];
  const hold = await w.hold();
  await request("tasks/cancel", { taskId: first.taskId });
  await request("tools/call", { name: "list_directory", arguments: { path: w.room } });
  assert.equal((await w.api(`/v1/holds/${hold.id}`)).state, "pending");
  await w.approve();
  const [cancelled, done] = await until([first, second], (found) => found.every(isOver));
  assert.deepEqual([cancelled.status, done.status, done.result?.isError ?? false], ["cancelled", "completed", false]);
  assert.ok(w.has("proof.txt"));
});

test("of two equal calls that wait one is cancelled: the other keeps the question, and the last one takes it back", async (t) => {
  const w = await world(t);
  const client = raw(t, w, writer(w));
  await client.hello();
  const waiting = async (id) => {
    const calling = client.request(id, "tools/call", { name: "write", arguments: proof, _meta: { progressToken: id } });
    const isHeard = ({ method, params }) => method === "notifications/progress" && params.progressToken === id;
    while (!client.others.some(isHeard)) await new Promise((done) => setTimeout(done, 10));
    return { calling };
  };
  const cancel = async (id) => {
    client.send(JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } }));
    // Goes to the server and back after it.
    await client.request(id + 1000, "tools/call", { name: "list_directory", arguments: { path: w.room } });
  };
  await waiting(1);
  const { calling } = await waiting(2);
  const hold = await w.hold();
  await cancel(1);
  assert.equal((await w.api(`/v1/holds/${hold.id}`)).state, "pending");
  await w.approve();
  assert.ok(!(await calling).result.isError && w.has("proof.txt"));
  await waiting(3);
  await waiting(4);
  const next = await w.hold((open) => open.id !== hold.id);
  await cancel(3);
  await cancel(4);
  assert.equal((await w.settled(next.id)).state, "cancelled");
});

test("a call whose question an equal call of another proxy took back is asked about anew", async (t) => {
  const w = await world(t);
  const clients = [raw(t, w, writer(w)), raw(t, w, writer(w))];
  for (const client of clients) await client.hello();
  const call = (client) => client.request(1, "tools/call", { name: "write", arguments: proof, _meta: { progressToken: 1 } });
  const waits = async ({ others }) => {
    while (!others.some(({ method }) => method === "notifications/progress")) await new Promise((done) => setTimeout(done, 10));
  };
  call(clients[0]);
  const hold = await w.hold();
  const second = call(clients[1]);
  await waits(clients[1]);
  clients[0].send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}');
  assert.equal((await w.settled(hold.id)).state, "cancelled");
  await w.approve((open) => open.id !== hold.id);
  assert.ok(!(await second).result.isError && w.has("proof.txt"));
});

test("modern upstream: its own question does not need a second approval", async (t) => {
  const w = await world(t);
  const client = await modern.connect(t, w, writer(w), {
    capabilities: { elicitation: { form: {} } },
    prepare: (client) => client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { name: "Ben" } })),
  });
  const calling = modern.call(client, "sign", { name: "letter.txt" });
  await w.hold();
  assert.ok(!w.has("letter.txt"));
  const hold = await w.approve();
  const result = await calling;
  assert.match(text(result), /signed by Ben/);
  assert.equal((await w.settled(hold.id)).outcome.state, "succeeded");
  assert.equal((await w.pending()).length, 0);
});

test("modern upstream: what it asked about does not go on while all is frozen", async (t) => {
  const w = await world(t);
  const client = await modern.connect(t, w, writer(w), {
    capabilities: { elicitation: { form: {} } },
    prepare: (client) =>
      client.setRequestHandler("elicitation/create", async () => {
        await w.api("/v1/freeze", { reason: "an incident" });
        return { action: "accept", content: { name: "Ben" } };
      }),
  });
  const calling = modern.call(client, "sign", { name: "letter.txt" });
  await w.approve();
  const result = await calling;
  assert.equal(result.isError, true);
  assert.match(text(result), /frozen/);
  assert.ok(!w.has("letter.txt"));
});

test("modern upstream: its question in a call that a person edited keeps the edited arguments", async (t) => {
  const w = await world(t);
  const client = await modern.connect(t, w, writer(w), {
    capabilities: { elicitation: { form: {} } },
    prepare: (client) => client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { name: "Ana" } })),
  });
  const calling = modern.call(client, "sign", { name: "letter.txt" });
  await w.answer({ verdict: "approve", arguments: { name: "edited.txt" } });
  assert.match(text(await calling), /signed by Ana/);
  assert.ok(w.has("edited.txt") && !w.has("letter.txt"));
});

test("the everything server: what is no call of a tool is passed on, both ways", async (t) => {
  const w = await world(t);
  const { CreateMessageRequestSchema, ListRootsRequestSchema, LoggingMessageNotificationSchema } = await import("@modelcontextprotocol/sdk/types.js");
  const [logs, sampled, roots] = [[], [], []];
  const client = await legacy.connect(t, w, everything(), {
    capabilities: { sampling: {}, roots: { listChanged: true }, elicitation: {} },
    prepare(client) {
      client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => {
        sampled.push(params);
        return { model: "m", role: "assistant", content: { type: "text", text: "sampled" } };
      });
      client.setRequestHandler(ListRootsRequestSchema, () => {
        roots.push(1);
        return { roots: [{ uri: "file:///r", name: "r" }] };
      });
      client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => logs.push(params));
    },
  });
  assert.match(text(await legacy.call(client, "echo", { message: "hi" })), /hi/);
  const prompts = (await client.listPrompts()).prompts.map((prompt) => prompt.name);
  assert.ok(prompts.length >= 3, String(prompts));
  const prompt = await client.getPrompt({ name: prompts[0], arguments: {} });
  assert.ok(prompt.messages.length > 0);
  const { resources } = await client.listResources();
  assert.ok(resources.length > 0);
  assert.ok((await client.readResource({ uri: resources[0].uri })).contents.length > 0);
  assert.ok((await client.listResourceTemplates()).resourceTemplates.length > 0);
  await client.setLoggingLevel("debug");
  await client.ping();
  const sampling = legacy.call(client, "trigger-sampling-request", { prompt: "say it", maxTokens: 5 });
  await w.approve();
  assert.match(text(await sampling), /sampled/);
  assert.equal(sampled.length, 1);
  const until = async (isSo) => {
    while (!isSo()) await new Promise((done) => setTimeout(done, 10));
  };
  const said = (words) => logs.some(({ data }) => words.test(data));
  // It asks for the roots when the handshake is over, and again when the client says that they changed.
  await until(() => said(/^Roots updated: 1 root/));
  assert.equal(roots.length, 1);
  const listing = legacy.call(client, "get-roots-list", {});
  await w.approve((hold) => hold.call.tool === "all__get-roots-list");
  assert.match(text(await listing), /file:\/\/\/r/);
  await client.sendRootsListChanged();
  await until(() => roots.length === 2);
  // At the level `debug` each of its messages is heard.
  assert.ok(!said(/level.message/i));
  const logging = legacy.call(client, "toggle-simulated-logging", {});
  await w.approve((hold) => hold.call.tool === "all__toggle-simulated-logging");
  await logging;
  await until(() => said(/level.message/i));
  const seen = [];
  const long = legacy.call(client, "trigger-long-running-operation", { duration: 0.4, steps: 2 }, { onprogress: (progress) => seen.push(progress) });
  await w.approve();
  assert.ok(!(await long).isError);
  assert.ok(seen.some(({ total }) => total === 2), JSON.stringify(seen));
});

test("several upstreams: tools are called server__tool, and each is gated under that name", async (t) => {
  const w = await world(t);
  const config = { mcpServers: {
    files: { command: process.execPath, args: [FILES, w.room] },
    all: { command: process.execPath, args: [EVERYTHING], env: { A: "1" } },
    broken: { command: process.execPath, args: ["-e", "process.exit(1)"] },
  } };
  writeFileSync(join(w.home, "mcp.json"), JSON.stringify(config));
  for (const kind of [legacy, modern]) {
    const client = await kind.connect(t, w, ["proxy", "--config", "mcp.json"], {
      capabilities: { elicitation: {}, sampling: {} },
      prepare: (client) => {
        const answer = () => ({ model: "m", role: "assistant", content: { type: "text", text: "sampled" } });
        if (kind === modern) client.setRequestHandler("sampling/createMessage", answer);
      },
    });
    const names = (await client.listTools()).tools.map((tool) => tool.name);
    assert.ok(names.includes("files__write_file") && names.includes("all__echo"), String(names));
    assert.match(text(await kind.call(client, "all__echo", { message: "hi" })), /hi/);
    const name = `${kind === modern ? "m" : "l"}.txt`;
    const calling = kind.call(client, "files__write_file", { path: join(w.room, name), content: "yes" });
    const hold = await w.hold();
    assert.equal(hold.call.tool, "files__write_file");
    assert.ok(!w.has(name));
    await w.approve();
    assert.ok(!(await calling).isError && w.has(name));
    const prompts = (await client.listPrompts()).prompts.map((prompt) => prompt.name);
    assert.ok(prompts.every((prompt) => prompt.startsWith("all__")), String(prompts));
    assert.ok((await client.getPrompt({ name: prompts[0], arguments: {} })).messages.length > 0);
    const { resources } = await client.listResources();
    assert.ok((await client.readResource({ uri: resources[0].uri })).contents.length > 0);
    if (kind === modern) {
      const sampling = kind.call(client, "all__trigger-sampling-request", { prompt: "say it", maxTokens: 5 });
      await w.approve();
      assert.match(text(await sampling), /sampled/);
    }
    await client.close();
  }
});
