// The official client of tasks (npm @modelcontextprotocol/ext-tasks 0.2.2 on @modelcontextprotocol/client 2.4.0, told 2026-07-28) before
// the public filesystem and everything servers, which know nothing of them: on pipes and over HTTP.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { createTaskSessionFromClient, resultFromTaskOutcome } from "@modelcontextprotocol/ext-tasks/client";
import { modern, text } from "./clients.mjs";
import { fronted, modernHttp } from "./door.mjs";
import { files, target } from "./proxy_cases.mjs";
import { world } from "./world.mjs";

const EVERYTHING = fileURLToPath(new URL("node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url));
const VERSION = "2026-07-28";
const PINNED = { versionNegotiation: { mode: { pin: VERSION } } };

const wires = {
  stdio: { kind: modern, more: () => "", args: { files: (w) => files(w), all: () => ["proxy", "--name", "all", "--", process.execPath, EVERYTHING] } },
  http: { kind: modernHttp, more: fronted(), args: { files: () => "/mcp/files", all: () => "/mcp/all" } },
};

/** The client's own wire, for results that it does not know by itself: the package wants one from its host. */
function dispatchOver(transport) {
  const waiting = new Map();
  const hear = transport.onmessage;
  transport.onmessage = (message, extra) => {
    const answer = message.method === undefined && waiting.get(message.id);
    if (!answer) return hear(message, extra);
    waiting.delete(message.id);
    answer(message.error ? { kind: "error", error: message.error } : { kind: "result", result: message.result });
  };
  return async (request) => {
    const id = `task-${waiting.size}-${performance.now()}`;
    const answer = new Promise((done) => waiting.set(id, done));
    await transport.send({ jsonrpc: "2.0", id, ...request });
    return answer;
  };
}

async function tasks(t, w, { kind, args }, server, { capabilities = {}, ...options } = {}) {
  const client = await kind.connect(t, w, args[server](w), { capabilities, more: PINNED });
  assert.equal(client.getNegotiatedProtocolVersion(), VERSION);
  const session = createTaskSessionFromClient(client, {
    endpointId: server,
    rawDispatch: dispatchOver(client.transport),
    v2RequestFraming: { protocolVersion: VERSION, clientInfo: { name: "holdpoint-tests", version: "1.0.0" }, clientCapabilities: capabilities },
    ...options,
  });
  t.after(() => session.close());
  return session;
}

for (const [name, wire] of Object.entries(wires)) {
  const say = (what) => `ext-tasks 0.2.2, ${name}: ${what}`;

  test(say("before the filesystem server a task waits, and a file is written only after approval"), async (t) => {
    const w = await world(t, wire.more);
    const session = await tasks(t, w, wire, "files");
    const listed = await session.callTool("list_directory", { path: w.room });
    assert.equal(listed.kind, "immediate", "what a rule allows is no task");
    const execution = await session.callTool("write_file", target(w));
    assert.equal(execution.kind, "task");
    const hold = await w.hold();
    assert.equal(execution.handle.taskId, hold.id, "it is on disk");
    assert.equal((await session.task(execution.handle.taskId).snapshot()).status, "working");
    assert.ok(!w.has("proof.txt"), "it waits");
    await w.approve();
    const result = resultFromTaskOutcome((await execution.settle()).outcome);
    assert.ok(!result.isError && w.has("proof.txt"), text(result));
    assert.equal((await w.settled(hold.id)).outcome.state, "succeeded");
  });

  test(say("a denied task is completed with the reason, a cancelled one withdraws its question"), async (t) => {
    const w = await world(t, wire.more);
    const session = await tasks(t, w, wire, "files");
    const refused = await session.callTool("write_file", target(w, "denied.txt"));
    await w.answer({ verdict: "deny", reason: "not on a Friday" });
    const denied = resultFromTaskOutcome((await refused.settle()).outcome);
    assert.equal(denied.isError, true);
    assert.match(text(denied), /not on a Friday/);
    const unwanted = await session.callTool("write_file", target(w, "gone.txt"));
    const hold = await w.hold();
    await unwanted.cancel();
    assert.equal((await unwanted.settle()).outcome.status, "cancelled");
    assert.equal((await w.settled(hold.id)).state, "cancelled");
    assert.ok(!w.has("denied.txt") && !w.has("gone.txt"));
  });

  test(say("what the everything server asks in a task is answered there, after approval"), async (t) => {
    const w = await world(t, wire.more);
    const asked = [];
    const onInputRequest = async ({ kind, params }) => {
      asked.push([kind, params.mode]);
      return { action: "accept", content: { name: "Ana", check: true } };
    };
    const session = await tasks(t, w, wire, "all", { capabilities: { elicitation: { form: {} } }, onInputRequest });
    const execution = await session.callTool("trigger-elicitation-request", {});
    const settling = execution.settle();
    const hold = await w.hold();
    assert.deepEqual(asked, [], "nothing is asked before the call is approved");
    await w.approve();
    const result = resultFromTaskOutcome((await settling).outcome);
    assert.match(text(result), /Ana/);
    assert.deepEqual(asked, [["elicitation", "form"]]);
    assert.equal((await w.settled(hold.id)).outcome.state, "succeeded");
  });
}

test("ext-tasks 0.2.2, http: a task that one client began, another of the same token takes up, and it runs once", async (t) => {
  const w = await world(t, wires.http.more);
  const first = await tasks(t, w, wires.http, "files");
  let kept;
  await (await first.callTool("write_file", target(w))).handoff((reference) => void (kept = JSON.stringify(reference)));
  await first.close();
  await w.restartServer();
  const second = await tasks(t, w, wires.http, "files");
  const execution = await second.resumeTask(JSON.parse(kept));
  assert.ok(!w.has("proof.txt"));
  const hold = await w.approve();
  const result = resultFromTaskOutcome((await execution.settle()).outcome);
  assert.ok(!result.isError && w.has("proof.txt"), text(result));
  assert.equal((await w.settled(hold.id)).outcome.state, "succeeded");
  assert.deepEqual(await w.pending(), []);
});
