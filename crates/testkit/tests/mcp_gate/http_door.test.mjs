// The official clients before `/mcp` of the server, in front of the public filesystem server, a modern one, and several.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { text } from "./clients.mjs";
import { fronted, last, legacyHttp, modernHttp, modernPost, session } from "./door.mjs";
import { world } from "./world.mjs";

const target = (w, name = "proof.txt") => ({ path: join(w.room, name), content: "yes" });
const proof = { name: "proof.txt", text: "yes" };

for (const kind of [legacyHttp, modernHttp]) {
  const say = (what) => `${kind.name}: ${what}`;

  test(say("what a rule allows passes, and what a rule denies does not"), async (t) => {
    const w = await world(t, fronted());
    const client = await kind.connect(t, w, "/mcp/files");
    assert.equal((await client.listTools()).tools.length, 14);
    const listed = await kind.call(client, "list_directory", { path: w.room });
    assert.ok(!listed.isError, text(listed));
    const moved = await kind.call(client, "move_file", { source: join(w.room, "a"), destination: join(w.room, "b") });
    assert.equal(moved.isError, true);
    assert.match(text(moved), /moving is not for agents/);
    assert.equal((await w.pending()).length, 0);
  });

  test(say("the call is kept open until a person approves, and its outcome is on record"), async (t) => {
    const w = await world(t, fronted());
    const client = await kind.connect(t, w, "/mcp/files");
    let calling;
    const heard = await new Promise((onprogress) => {
      calling = kind.call(client, "write_file", target(w), { onprogress });
    });
    assert.match(heard.message, /waiting for a person/);
    const hold = await w.hold();
    assert.ok(!w.has("proof.txt"), "it waits");
    assert.equal(hold.call.tool, "files__write_file");
    assert.deepEqual(hold.call.arguments, target(w));
    await w.approve();
    const result = await calling;
    assert.ok(w.has("proof.txt"), text(result));
    assert.equal((await w.settled(hold.id)).outcome.state, "succeeded");
  });

  test(say("denied by a person it does not run, and the model hears the reason"), async (t) => {
    const w = await world(t, fronted());
    const client = await kind.connect(t, w, "/mcp/files");
    const calling = kind.call(client, "write_file", target(w));
    await w.answer({ verdict: "deny", reason: "not on a Friday" });
    const result = await calling;
    assert.equal(result.isError, true);
    assert.match(text(result), /not on a Friday/);
    assert.ok(!w.has("proof.txt"));
  });

  test(say("come back: the same call finds its approval in another session, uses it once, and is asked about again"), async (t) => {
    const w = await world(t, fronted('wait = "1s"'));
    const first = await kind.connect(t, w, "/mcp/files");
    const told = await kind.call(first, "write_file", target(w));
    assert.match(text(told), /call again with the same arguments/);
    await first.close();
    const hold = await w.approve();
    assert.ok(text(told).includes(`/holds/${hold.id}`), text(told));
    assert.ok(!w.has("proof.txt"));
    const second = await kind.connect(t, w, "/mcp/files");
    const other = await kind.call(second, "write_file", target(w, "other.txt"));
    assert.ok(other.isError && !w.has("other.txt"), "other arguments are another call");
    const done = await kind.call(second, "write_file", target(w));
    assert.ok(!done.isError && w.has("proof.txt"), text(done));
    assert.equal((await kind.call(second, "write_file", target(w))).isError, true);
  });

  test(say("approved with other arguments it runs with those, and the model hears it"), async (t) => {
    const w = await world(t, fronted());
    const client = await kind.connect(t, w, "/mcp/files");
    const calling = kind.call(client, "write_file", target(w));
    await w.answer({ verdict: "approve", arguments: target(w, "edited.txt") });
    const result = await calling;
    assert.ok(w.has("edited.txt") && !w.has("proof.txt"), text(result));
    assert.match(text(result), /a person changed the arguments/);
  });

  test(say("a cancelled call is withdrawn"), async (t) => {
    const w = await world(t, fronted());
    const client = await kind.connect(t, w, "/mcp/files");
    const stop = new AbortController();
    const calling = kind.call(client, "write_file", target(w), { signal: stop.signal });
    const hold = await w.hold();
    stop.abort("enough");
    await assert.rejects(calling);
    assert.equal((await w.settled(hold.id)).state, "cancelled");
    assert.ok(!w.has("proof.txt"));
  });

  test(say("while all is frozen nothing runs, and the model hears it"), async (t) => {
    const w = await world(t, fronted());
    const client = await kind.connect(t, w, "/mcp/files");
    const calling = kind.call(client, "write_file", target(w));
    const hold = await w.hold();
    await w.api("/v1/freeze", { reason: "an incident" });
    assert.match(text(await kind.call(client, "list_directory", { path: w.room })), /frozen/i);
    await w.api(`/v1/holds/${hold.id}/cancel`, { reason: "over" });
    assert.equal((await calling).isError, true);
    assert.ok(!w.has("proof.txt"));
  });

  test(say("several upstreams at one address: tools are called server__tool"), async (t) => {
    const w = await world(t, fronted());
    const client = await kind.connect(t, w, "/mcp", { capabilities: { sampling: {} } });
    const names = (await client.listTools()).tools.map((tool) => tool.name);
    assert.ok(names.includes("files__write_file") && names.includes("all__echo") && names.includes("writer__write"), String(names));
    assert.match(text(await kind.call(client, "all__echo", { message: "hi" })), /hi/);
    const calling = kind.call(client, "files__write_file", target(w));
    const hold = await w.hold();
    assert.equal(hold.call.tool, "files__write_file");
    await w.approve();
    assert.ok(!(await calling).isError && w.has("proof.txt"));
    const { resources } = await client.listResources();
    assert.ok((await client.readResource({ uri: resources[0].uri })).contents.length > 0);
  });
}

test("client 2.4.0 over HTTP: a modern upstream, its own question, and no second approval", async (t) => {
  const w = await world(t, fronted());
  const client = await modernHttp.connect(t, w, "/mcp/writer", {
    capabilities: { elicitation: { form: {} } },
    prepare: (client) => client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { name: "Ben" } })),
  });
  assert.equal(client.getNegotiatedProtocolVersion(), "2026-07-28");
  const calling = modernHttp.call(client, "sign", { name: "letter.txt" });
  const hold = await w.hold();
  assert.ok(!w.has("letter.txt"));
  await w.approve();
  assert.match(text(await calling), /signed by Ben/);
  assert.equal((await w.settled(hold.id)).outcome.state, "succeeded");
  assert.equal((await w.pending()).length, 0);
});

test("the everything server over HTTP: what is no call of a tool is passed on, both ways", async (t) => {
  const w = await world(t, fronted());
  const { CreateMessageRequestSchema, ListRootsRequestSchema, LoggingMessageNotificationSchema } = await import("@modelcontextprotocol/sdk/types.js");
  const [logs, roots] = [[], []];
  const client = await legacyHttp.connect(t, w, "/mcp/all", {
    capabilities: { sampling: {}, roots: { listChanged: true } },
    prepare(client) {
      client.setRequestHandler(ListRootsRequestSchema, () => {
        roots.push(1);
        return { roots: [{ uri: "file:///r", name: "r" }] };
      });
      client.setRequestHandler(CreateMessageRequestSchema, () => ({ model: "m", role: "assistant", content: { type: "text", text: "sampled" } }));
      client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => logs.push(params));
    },
  });
  const prompts = (await client.listPrompts()).prompts.map((prompt) => prompt.name);
  assert.ok((await client.getPrompt({ name: prompts[0], arguments: {} })).messages.length > 0);
  assert.ok((await client.listResourceTemplates()).resourceTemplates.length > 0);
  await client.setLoggingLevel("debug");
  await client.ping();
  await client.listTools();
  const sampling = legacyHttp.call(client, "trigger-sampling-request", { prompt: "say it", maxTokens: 5 });
  await w.approve();
  assert.match(text(await sampling), /sampled/);
  const until = async (isSo) => {
    while (!isSo()) await new Promise((done) => setTimeout(done, 10));
  };
  const said = (words) => logs.some(({ data }) => words.test(data));
  await until(() => said(/^Roots updated: 1 root/));
  assert.equal(roots.length, 1);
  await client.sendRootsListChanged();
  await until(() => roots.length === 2);
  assert.ok(!said(/level.message/i));
  const logging = legacyHttp.call(client, "toggle-simulated-logging", {});
  await w.approve((hold) => hold.call.tool === "all__toggle-simulated-logging");
  await logging;
  await until(() => said(/level.message/i));
  const seen = [];
  const long = legacyHttp.call(client, "trigger-long-running-operation", { duration: 0.4, steps: 2 }, { onprogress: (progress) => seen.push(progress) });
  await w.approve();
  assert.ok(!(await long).isError);
  assert.ok(seen.some(({ total }) => total === 2), JSON.stringify(seen));
});

test("a form in the client is the answer of the token's owner, in both eras", async (t) => {
  const w = await world(t, fronted("answer_in_client = true"));
  const token = w.tokens.person_token;
  const { ElicitRequestSchema } = await import("@modelcontextprotocol/sdk/types.js");
  const yes = () => ({ action: "accept", content: { decision: "approve" } });
  const asked = [];
  const old = await legacyHttp.connect(t, w, "/mcp/files", {
    token,
    capabilities: { elicitation: {} },
    prepare: (client) => client.setRequestHandler(ElicitRequestSchema, ({ params }) => asked.push(params.message) && yes()),
  });
  const first = await legacyHttp.call(old, "write_file", target(w));
  assert.ok(!first.isError && w.has("proof.txt"), text(first));
  assert.match(asked[0], /files__write_file[\s\S]*proof\.txt/);
  const client = await modernHttp.connect(t, w, "/mcp/writer", {
    token,
    capabilities: { elicitation: { form: {} } },
    prepare: (client) => client.setRequestHandler("elicitation/create", ({ params }) => asked.push(params.message) && yes()),
  });
  const second = await modernHttp.call(client, "write", { name: "modern.txt", text: "yes" });
  assert.ok(!second.isError && w.has("modern.txt"), text(second));
  assert.equal(asked.length, 2);
  const { items } = await w.api("/v1/holds?state=approved");
  assert.ok(items.every((hold) => hold.decision.by === "ana"), JSON.stringify(items));
});

test("a task waits, runs after approval, and is told denied as completed", async (t) => {
  const w = await world(t, fronted());
  const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
  const ask = async (method, params) => (await last(await modernPost(w, "/mcp/writer", method, params, { capabilities }))).result;
  const settled = async (taskId) => {
    for (;;) {
      const task = await ask("tasks/get", { taskId });
      if (task.status !== "working") return task;
      await new Promise((done) => setTimeout(done, 20));
    }
  };
  const task = await ask("tools/call", { name: "write", arguments: proof });
  assert.deepEqual([task.resultType, task.status], ["task", "working"]);
  assert.equal(task.taskId, (await w.hold()).id, "it is on disk");
  assert.ok(!w.has("proof.txt"));
  await w.approve();
  const done = await settled(task.taskId);
  assert.ok(done.status === "completed" && !done.result.isError && w.has("proof.txt"), JSON.stringify(done));
  const second = await ask("tools/call", { name: "write", arguments: { name: "no.txt", text: "" } });
  await w.answer({ verdict: "deny", reason: "no" });
  const denied = await settled(second.taskId);
  assert.deepEqual([denied.status, denied.result.isError], ["completed", true]);
  const third = await ask("tools/call", { name: "write", arguments: { name: "gone.txt", text: "" } });
  const open = await w.hold();
  await ask("tasks/cancel", { taskId: third.taskId });
  assert.equal((await w.settled(open.id)).state, "cancelled");
  assert.ok(!w.has("no.txt") && !w.has("gone.txt"));
});

test("a task outlives the server: it goes on when its client asks for it, and runs once after approval", async (t) => {
  const w = await world(t, fronted());
  const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
  const ask = async (method, params, path = "/mcp/writer") => last(await modernPost(w, path, method, params, { capabilities }));
  const settled = async (taskId) => {
    for (;;) {
      const { result } = await ask("tasks/get", { taskId });
      if (result.status !== "working") return result;
      await new Promise((done) => setTimeout(done, 20));
    }
  };
  const { result: task } = await ask("tools/call", { name: "write", arguments: proof });
  await w.restartServer();
  assert.ok((await ask("tasks/get", { taskId: task.taskId }, "/mcp/files")).error, "not at another address");
  assert.equal((await ask("tasks/get", { taskId: task.taskId })).result.status, "working");
  assert.ok(!w.has("proof.txt"));
  await w.approve();
  const done = await settled(task.taskId);
  assert.ok(done.status === "completed" && !done.result.isError && w.has("proof.txt"), JSON.stringify(done));
  assert.equal((await w.settled(task.taskId)).outcome.state, "succeeded");
  await w.restartServer();
  const after = await settled(task.taskId);
  assert.match(after.result.content[0].text, /may or may not have been carried out/);
  assert.equal((await w.pending()).length, 0, "and it is not asked about again");
});

test("two equal tasks are two tasks, and one that is cancelled leaves the other its question, also after a restart", async (t) => {
  const w = await world(t, fronted());
  const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
  const ask = async (method, params) => (await last(await modernPost(w, "/mcp/writer", method, params, { capabilities }))).result;
  const settled = async (taskId) => {
    for (;;) {
      const task = await ask("tasks/get", { taskId });
      if (task.status !== "working") return task;
      await new Promise((done) => setTimeout(done, 20));
    }
  };
  const begin = () => ask("tools/call", { name: "write", arguments: proof });
  const [first, second, third] = [await begin(), await begin(), await begin()];
  assert.equal(new Set([first, second, third].map(({ taskId }) => taskId)).size, 3);
  const hold = await w.hold();
  await ask("tasks/cancel", { taskId: first.taskId });
  await ask("tools/call", { name: "list_directory", arguments: { path: w.room } });
  assert.equal((await w.api(`/v1/holds/${hold.id}`)).state, "pending");
  await w.approve();
  // One of the two has the approval, and the other is asked about by itself.
  const next = await w.hold((open) => open.id !== hold.id);
  assert.equal((await w.settled(hold.id)).outcome.state, "succeeded");
  const states = [(await ask("tasks/get", second)).status, (await ask("tasks/get", third)).status];
  assert.deepEqual(states.sort(), ["completed", "working"]);
  const waiting = (await ask("tasks/get", second)).status === "working" ? second : third;
  await w.restartServer();
  assert.equal((await ask("tasks/get", waiting)).status, "working");
  await w.approve((open) => open.id === next.id);
  const done = await settled(waiting.taskId);
  assert.ok(done.status === "completed" && text(done.result).includes("written"), JSON.stringify(done));
  assert.equal((await w.settled(next.id)).outcome.state, "succeeded");
});

test("of two equal calls in two sessions of a token one is cancelled, and the other keeps its question", async (t) => {
  const w = await world(t, fronted());
  const [stop, ids] = [new AbortController(), []];
  const waiting = async (options) => {
    const client = await legacyHttp.connect(t, w, "/mcp/files");
    let calling;
    await new Promise((onprogress) => (calling = legacyHttp.call(client, "write_file", target(w), { onprogress, ...options })));
    ids.push((await w.hold()).id);
    return { calling };
  };
  const first = await waiting({ signal: stop.signal });
  const second = await waiting();
  assert.equal(ids[0], ids[1], "they share a question");
  stop.abort("enough");
  await assert.rejects(first.calling);
  const other = await legacyHttp.connect(t, w, "/mcp/files");
  await legacyHttp.call(other, "list_directory", { path: w.room });
  assert.equal((await w.api(`/v1/holds/${ids[0]}`)).state, "pending");
  await w.approve();
  assert.ok(!(await second.calling).isError && w.has("proof.txt"));
});

test("a stream that was cut is taken up again after its last event, and the answer is there", async (t) => {
  const w = await world(t, fronted());
  const s = await session(w, "/mcp/files");
  const cut = new AbortController();
  const params = { name: "write_file", arguments: target(w), _meta: { progressToken: 1 } };
  const reply = await s.send({ id: 7, method: "tools/call", params }, { signal: cut.signal });
  let seen = "";
  for await (const chunk of reply.body) {
    seen += Buffer.from(chunk).toString();
    if (/^id: .*\n[\s\S]*progress/m.test(seen)) break;
  }
  cut.abort();
  const [, lastEvent] = seen.match(/^id: (.*)$/m);
  await w.approve();
  const headers = { authorization: `Bearer ${w.tokens.program_token}`, accept: "text/event-stream", ...s.headers, "last-event-id": lastEvent };
  const again = await fetch(`${w.url}/mcp/files`, { headers });
  assert.equal(again.status, 200);
  const answer = await last(again);
  assert.ok(answer.id === 7 && !answer.result.isError && w.has("proof.txt"), JSON.stringify(answer));
});

test("a modern client is told of changed lists where it listens", async (t) => {
  const w = await world(t, fronted());
  const client = await modernHttp.connect(t, w, "/mcp/writer");
  const subscription = await client.listen({ toolsListChanged: true }).catch((error) => error);
  assert.ok(!(subscription instanceof Error), String(subscription));
  await subscription.close?.();
});
