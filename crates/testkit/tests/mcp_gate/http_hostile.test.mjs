// What hostile callers try at `/mcp`, over plain HTTP. Nothing runs, and no caller gets at anything of another.

import assert from "node:assert/strict";
import { request } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { fronted, last, modernHttp, modernPost, post, session } from "./door.mjs";
import { world } from "./world.mjs";

const target = (w, name = "proof.txt") => ({ path: join(w.room, name), content: "yes" });
const proof = { name: "proof.txt", text: "yes" };
const yes = { approval: { action: "accept", content: { decision: "approve" } } };
const FORMS = { elicitation: { form: {} } };
const TASKS = { extensions: { "io.modelcontextprotocol/tasks": {} } };

/** Another program with a token of its own. */
const another = async (w) => (await w.api("/v1/tokens", { program: "another", scopes: ["ask"] })).token;

test("without a token, with a wrong one and with a cookie there is no door", async (t) => {
  const w = await world(t, fronted());
  for (const headers of [{ authorization: "" }, { authorization: "Bearer hp_program_wrong" }, { authorization: "Basic eA==" }, { authorization: "", cookie: "holdpoint_session=x" }]) {
    const reply = await modernPost(w, "/mcp/files", "tools/list", {}, { headers });
    assert.equal(reply.status, 401, JSON.stringify(headers));
    assert.match(reply.headers.get("www-authenticate"), /^Bearer/);
  }
  assert.equal((await modernPost(w, "/mcp/nothing", "tools/list", {})).status, 404);
});

test("a page of another site is turned away", async (t) => {
  const w = await world(t, fronted());
  for (const headers of [{ origin: "https://evil.example" }, { origin: "null" }]) {
    assert.equal((await modernPost(w, "/mcp/files", "tools/list", {}, { headers })).status, 403);
  }
});

/** The status of a page's request, under the host that its address names. */
const fromPage = (w, host) =>
  new Promise((done, failed) => {
    const { hostname, port } = new URL(w.url);
    const headers = { host, origin: `http://${host}`, authorization: `Bearer ${w.tokens.program_token}` };
    const asking = request({ hostname, port, path: "/mcp/files", method: "POST", headers }, (reply) => {
      reply.resume();
      done(reply.statusCode);
    });
    asking.on("error", failed).end();
  });

test("a page whose own name leads to us is turned away", async (t) => {
  const w = await world(t, fronted());
  const { port } = new URL(w.url);
  // 415: it got as far as the message, which has no type.
  for (const host of ["localhost", "127.0.0.1", "[::1]"]) assert.equal(await fromPage(w, `${host}:${port}`), 415, host);
  for (const host of ["evil.example", "localhost.evil.example", "192.0.2.7"]) assert.equal(await fromPage(w, `${host}:${port}`), 403, host);
});

test("the session of another caller is as good as none", async (t) => {
  const w = await world(t, fronted());
  const token = await another(w);
  const mine = await session(w, "/mcp/files");
  assert.ok((await last(await mine.send({ id: 1, method: "tools/list" }))).result.tools.length > 0);
  const theirs = { token };
  assert.equal((await mine.send({ id: 2, method: "tools/list" }, theirs)).status, 404);
  const headers = { authorization: `Bearer ${token}`, accept: "text/event-stream", ...mine.headers };
  assert.equal((await fetch(`${w.url}/mcp/files`, { headers })).status, 404, "nor are its streams");
  assert.equal((await fetch(`${w.url}/mcp/files`, { headers: { ...headers, "last-event-id": "1-1" } })).status, 404);
  assert.equal((await fetch(`${w.url}/mcp/files`, { method: "DELETE", headers })).status, 404, "and it cannot end it");
  assert.equal((await mine.send({ id: 3, method: "tools/list" }, { headers: { "mcp-session-id": "guessed" } })).status, 404);
  assert.equal((await post(w, "/mcp/all", { id: 4, method: "tools/list" }, { headers: mine.headers })).status, 404, "another address");
  assert.equal((await mine.send({ id: 5, method: "tools/list" })).status, 200, "the owner's goes on");
  assert.equal((await fetch(`${w.url}/mcp/files`, { method: "DELETE", headers: { ...headers, authorization: `Bearer ${w.tokens.program_token}` } })).status, 204);
  assert.equal((await mine.send({ id: 6, method: "tools/list" })).status, 404, "it is over");
});

test("the task and the approval of another caller are not found", async (t) => {
  const w = await world(t, fronted('wait = "1s"'));
  const token = await another(w);
  const ask = async (method, params, options) => last(await modernPost(w, "/mcp/writer", method, params, { capabilities: TASKS, ...options }));
  const { result: task } = await ask("tools/call", { name: "write", arguments: proof });
  const foreign = await ask("tasks/get", { taskId: task.taskId }, { token });
  assert.ok(foreign.error, JSON.stringify(foreign));
  assert.ok((await ask("tasks/cancel", { taskId: task.taskId }, { token })).error);
  assert.equal((await ask("tasks/get", { taskId: task.taskId })).result.status, "working");
  await ask("tasks/cancel", { taskId: task.taskId });
  // An approval that waits for its caller to come back is not another's.
  const back = { name: "back.txt", text: "yes" };
  const call = (options) => modernPost(w, "/mcp/writer", "tools/call", { name: "write", arguments: back }, options);
  assert.equal((await last(await call())).result.isError, true);
  await w.approve((hold) => hold.call.arguments.name === "back.txt");
  assert.equal((await last(await call({ token }))).result.isError, true);
  assert.ok(!w.has("back.txt"));
  assert.ok(!(await last(await call())).result.isError && w.has("back.txt"));
  assert.ok(!w.has("proof.txt"));
});

test("two clients with one token and one id get their own answers", async (t) => {
  const w = await world(t, fronted());
  const call = (message) => modernPost(w, "/mcp/writer", "tools/call", { name: "write", arguments: message }, { id: 0 });
  const calls = ["a", "b"].map((name) => call({ name, text: name }));
  for (const name of ["a", "b"]) await w.answer(name === "a" ? { verdict: "approve" } : { verdict: "deny", reason: "not b" }, (hold) => hold.call.arguments.name === name);
  const [a, b] = await Promise.all(calls.map(async (reply) => last(await reply)));
  assert.ok(!a.result.isError && a.id === 0 && w.has("a"), JSON.stringify(a));
  assert.ok(b.result.isError && b.id === 0 && !w.has("b"), JSON.stringify(b));
});

test("headers that do not say what the body says are refused", async (t) => {
  const w = await world(t, fronted());
  const call = { name: "write", arguments: proof };
  for (const headers of [{ "mcp-name": "read" }, { "mcp-method": "tools/list" }, { "mcp-protocol-version": "2025-11-25" }, { "mcp-name": "" }]) {
    const reply = await modernPost(w, "/mcp/writer", "tools/call", call, { headers });
    assert.equal(reply.status, 400, JSON.stringify(headers));
    assert.equal((await reply.json()).error.code, -32020);
  }
  const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "write" };
  const hidden = await post(w, "/mcp/writer", { id: 1, method: "tools/call", params: call }, { headers });
  assert.equal((await hidden.json()).error.code, -32020, "a modern header before a legacy body");
  assert.equal((await w.pending()).length, 0);
});

test("an era that is not spoken is told which are, and an unknown method is not found", async (t) => {
  const w = await world(t, fronted());
  const _meta = { "io.modelcontextprotocol/protocolVersion": "2031-01-01" };
  const future = await post(w, "/mcp/writer", { id: 1, method: "tools/list", params: { _meta } }, { headers: { "mcp-protocol-version": "2031-01-01" } });
  assert.equal(future.status, 400);
  const { error } = await future.json();
  assert.equal(error.code, -32022);
  assert.ok(error.data.supported.includes("2026-07-28") && error.data.requested === "2031-01-01", JSON.stringify(error));
  const past = await post(w, "/mcp/files", { id: 1, method: "tools/list" }, { headers: { "mcp-protocol-version": "1999-01-01" } });
  assert.equal((await past.json()).error.code, -32022);
  const unknown = await modernPost(w, "/mcp/writer", "no/such", {});
  assert.equal(unknown.status, 404);
  assert.equal((await unknown.json()).error.code, -32601);
  assert.equal((await post(w, "/mcp/files", { id: 1, method: "tools/list" })).status, 400, "a legacy request without a session");
  assert.equal((await fetch(`${w.url}/mcp/files`, { headers: { authorization: `Bearer ${w.tokens.program_token}` } })).status, 405);
});

test("what is no message is refused, and so is a frame that is too long", async (t) => {
  const w = await world(t, fronted());
  const s = await session(w, "/mcp/files");
  const call = JSON.stringify({ name: "write_file", arguments: target(w) });
  for (const body of [
    "",
    "{",
    "[]",
    `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${call}}]`,
    `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":${call}}`,
    `{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call","params":${call}}`,
    `{"jsonrpc":"1.0","id":1,"method":"tools/call","params":${call}}`,
    `{"jsonrpc":"2.0","id":null,"method":"tools/call","params":${call}}`,
  ]) {
    const reply = await s.send({}, { body });
    assert.equal(reply.status, 400, body);
    assert.ok((await reply.json()).error.code <= -32600, body);
  }
  assert.equal((await s.send({ method: "tools/call", params: JSON.parse(call) })).status, 202, "a call without an id is none");
  assert.equal((await s.send({ id: 1, method: "Tools/Call", params: JSON.parse(call) })).status, 200);
  const huge = `{"jsonrpc":"2.0","id":9,"method":"tools/list","params":{"x":"${"x".repeat(20 << 20)}"}}`;
  const reply = await s.send({}, { body: huge }).catch(() => ({ status: 413 }));
  assert.equal(reply.status, 413);
  assert.equal((await s.send({ id: 10, method: "ping" })).status, 200, "the session goes on");
  assert.equal((await w.pending()).length, 0);
  assert.ok(!w.has("proof.txt"));
});

test("an id is in use once in a session", async (t) => {
  const w = await world(t, fronted());
  const s = await session(w, "/mcp/files");
  const call = (name) => s.send({ id: 1, method: "tools/call", params: { name: "write_file", arguments: target(w, name) } });
  const first = call("first.txt");
  await w.hold();
  const second = await call("second.txt");
  assert.equal(second.status, 400);
  assert.match((await second.json()).error.message, /in use/);
  await w.approve();
  assert.ok(!(await last(await first)).result.isError);
  assert.ok(w.has("first.txt") && !w.has("second.txt"));
});

test("a flood of calls is bounded", async (t) => {
  const w = await world(t, fronted('wait = "30s"'));
  const s = await session(w, "/mcp/files");
  const stop = new AbortController();
  const statuses = [];
  const flood = Array.from({ length: 230 }, async (_, id) => {
    const params = { name: "write_file", arguments: target(w, `${id}`) };
    const reply = await s.send({ id, method: "tools/call", params }, { signal: stop.signal }).catch(() => ({ status: 0 }));
    statuses.push(reply.status);
  });
  await Promise.race([Promise.all(flood), new Promise((done) => setTimeout(done, 20_000))]);
  assert.ok(statuses.includes(429), JSON.stringify(statuses.slice(-40)));
  assert.ok((await w.pending()).length <= 200);
  stop.abort();
});

test("one session too many ends the one that is idle longest, and none that is in use", async (t) => {
  const w = await world(t, fronted('wait = "60s"'));
  const busy = await session(w, "/mcp/files");
  const calling = busy.send({ id: 1, method: "tools/call", params: { name: "write_file", arguments: target(w) } });
  await w.hold();
  const begin = () => session(w, "/mcp/files");
  const first = await Promise.all(Array.from({ length: 31 }, begin));
  const ping = async (s) => (await s.send({ id: 5, method: "ping" })).status;
  for (const s of first) assert.equal(await ping(s), 200);
  const later = [await begin(), await begin()];
  assert.ok(later.every(({ id }) => id), "they begin");
  const all = [...first, ...later];
  const statuses = [];
  for (const s of all) statuses.push(await ping(s));
  assert.deepEqual(statuses, [404, 404, ...Array(31).fill(200)]);
  const listen = (s, signal) => fetch(`${w.url}/mcp/files`, { signal, headers: { authorization: `Bearer ${w.tokens.program_token}`, accept: "text/event-stream", ...s.headers } });
  const stop = new AbortController();
  t.after(() => stop.abort());
  for (const s of all.slice(2)) assert.equal((await listen(s, stop.signal)).status, 200);
  const refused = await begin();
  assert.equal(refused.id, null, "all are in use");
  assert.match(refused.answer.error.message, /all are in use/);
  await w.approve();
  assert.ok(!(await last(await calling)).result.isError && w.has("proof.txt"), "the call that waited went on");
  assert.ok((await begin()).id, "its session gives way, as nothing waits in it now");
});

test("changed arguments after the approval are asked about anew", async (t) => {
  const w = await world(t, fronted('wait = "1s"'));
  const call = async (args, more = {}) => (await last(await modernPost(w, "/mcp/writer", "tools/call", { name: "write", arguments: args, ...more }))).result;
  assert.equal((await call(proof)).isError, true);
  await w.approve();
  assert.equal((await call({ ...proof, text: "something else" })).isError, true);
  assert.equal((await call(proof, { extra: 1 })).isError, true);
  assert.ok(!w.has("proof.txt"));
});

test("forged, replayed and foreign states approve nothing", async (t) => {
  const w = await world(t, fronted('answer_in_client = true\nwait = "2s"'));
  const token = w.tokens.person_token;
  const call = async (args, more = {}, options = {}) =>
    (await last(await modernPost(w, "/mcp/writer", "tools/call", { name: "write", arguments: args, ...more }, { token, capabilities: FORMS, ...options }))).result;
  const forged = await call(proof, { requestState: "holdpoint-form-AAAA", inputResponses: yes });
  assert.equal(forged.resultType, "input_required");
  const { requestState } = forged;
  const foreign = await call({ name: "other.txt", text: "x" }, { requestState, inputResponses: yes });
  assert.equal(foreign.resultType, "input_required", "another call");
  const again = await call(proof, { requestState, inputResponses: yes });
  assert.equal(again.resultType, "input_required", "the state was used up");
  const good = { requestState: again.requestState, inputResponses: yes };
  // Another token cannot use it, also if its owner is a program that asks the same.
  const stolen = await call(proof, good, { token: w.tokens.program_token });
  assert.ok(stolen.isError, JSON.stringify(stolen));
  assert.ok(!w.has("proof.txt") && !w.has("other.txt"));
  const done = await call(proof, good);
  assert.ok(!done.isError && done.resultType === "complete" && w.has("proof.txt"), JSON.stringify(done));
  assert.equal((await call(proof, good)).resultType, "input_required", "replayed, it is asked about again");
});

test("a client that answers its own form is not asked where the audience is somebody else", async (t) => {
  const w = await world(t, fronted('answer_in_client = true\nwait = "2s"'));
  const call = async (name, args, token, more = {}) =>
    (await last(await modernPost(w, "/mcp/writer", "tools/call", { name, arguments: args, ...more }, { token, capabilities: FORMS }))).result;
  const folder = await call("create_directory", { name: "d" }, w.tokens.person_token);
  assert.ok(folder.isError && folder.resultType === "complete", JSON.stringify(folder));
  const program = await call("write", proof, w.tokens.program_token);
  assert.ok(program.isError && program.resultType === "complete", "a program is never asked");
  const blunt = await call("write", proof, w.tokens.program_token, { inputResponses: yes, requestState: "x" });
  assert.ok(blunt.isError);
  assert.ok(!w.has("d") && !w.has("proof.txt"));
});

test("a token that is revoked while a call waits is of no use, also if it was approved", async (t) => {
  const w = await world(t, fronted());
  const made = await w.api("/v1/tokens", { program: "short", scopes: ["ask"] });
  const calling = modernPost(w, "/mcp/writer", "tools/call", { name: "write", arguments: proof }, { token: made.token });
  await w.hold();
  const gone = await fetch(`${w.url}/v1/tokens/${made.id}`, { method: "DELETE", headers: { authorization: `Bearer ${w.tokens.person_token}` } });
  assert.ok(gone.ok, String(gone.status));
  await w.approve();
  const { result } = await last(await calling);
  assert.ok(result.isError, JSON.stringify(result));
  assert.match(result.content[0].text, /token is revoked/);
  assert.ok(!w.has("proof.txt"));
  assert.equal((await modernPost(w, "/mcp/writer", "tools/list", {}, { token: made.token })).status, 401);
});

test("a token that expires by time while a call waits is of no use, also if it was approved", async (t) => {
  const w = await world(t, fronted());
  const made = await w.api("/v1/tokens", { program: "brief", scopes: ["ask"], expires_in_s: 2 });
  const calling = modernPost(w, "/mcp/writer", "tools/call", { name: "write", arguments: proof }, { token: made.token });
  const hold = await w.hold();
  for (;;) {
    const { status } = await fetch(`${w.url}/v1/me`, { headers: { authorization: `Bearer ${made.token}` } });
    if (status === 401) break;
    await new Promise((done) => setTimeout(done, 50));
  }
  await w.approve();
  const answer = await last(await calling);
  // The stream ends with its token; if the answer was quicker, it is a denial.
  if (answer?.result) assert.ok(answer.result.isError, JSON.stringify(answer));
  assert.equal((await modernPost(w, "/mcp/writer", "tools/list", {}, { token: made.token })).status, 401);
  // Another caller's call went to the upstream and came back: this one would have been there before it.
  assert.ok(!(await last(await modernPost(w, "/mcp/writer", "tools/call", { name: "list_directory", arguments: { path: w.room } }))).result.isError);
  assert.ok(!w.has("proof.txt"));
  assert.equal((await w.api(`/v1/holds/${hold.id}`)).outcome, null, "the approval was not used");
});

test("the upstream gets neither the token nor the server's environment", async (t) => {
  const w = await world(t, fronted());
  const client = await modernHttp.connect(t, w, "/mcp/all");
  const calling = modernHttp.call(client, "get-env", {});
  await w.approve();
  const env = JSON.parse((await calling).content[0].text);
  assert.ok(env.PATH && !JSON.stringify(env).includes("hp_program_"), JSON.stringify(env));
  assert.ok(!Object.keys(env).some((name) => name.startsWith("HOLDPOINT") || name === "MCP_PYTHON"), Object.keys(env).join());
});
