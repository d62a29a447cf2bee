// Bad input and bad days: what is no message, eras that are not spoken, services and programs that hang or die, tokens that are wrong.
// Each time a clear error or a denial, and nothing runs.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { legacy, modern, text } from "./clients.mjs";
import { fronted, last, legacyHttp, modernHttp, modernPost } from "./door.mjs";
import { files, target } from "./proxy_cases.mjs";
import { modernMeta, raw } from "./raw.mjs";
import { world } from "./world.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const STUB = here("stub.mjs");
const tool = (name) => ({ name, description: "Does it.", inputSchema: { type: "object" } });
const showTools = (w) => writeFileSync(join(w.room, "tools.json"), JSON.stringify(["note", "die", "hang"].map(tool)));
const calls = (w) => {
  const path = join(w.room, "received");
  return existsSync(path) ? readFileSync(path, "utf8").split("\n").filter((line) => line.includes('"tools/call"')) : [];
};
const ask = { kind: "approve", question: "May I?" };
const askCall = (id, more = {}) => ({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "ask_person", arguments: ask, ...more } });

test("mcp serve: lines that are no message are refused with a code, nobody is asked, and the next one is served", async (t) => {
  const w = await world(t);
  const client = raw(t, w, ["serve"]);
  await client.hello();
  const call = JSON.stringify(askCall(1));
  for (const [line, code, id = null] of [
    ["this is no JSON", -32700],
    ["{", -32700],
    [`[${call}]`, -32600],
    [call.replace('"2.0"', '"1.0"'), -32600, 1],
    [call.replace('"id":1', '"id":1.5'), -32600],
    [call.replace('"method":"tools/call"', '"method":"ping","method":"tools/call"'), -32600],
    [JSON.stringify({ ...askCall(1), padding: "x".repeat(17 << 20) }), -32600],
  ]) {
    assert.equal((await client.ask(line, id)).error.code, code, line.slice(0, 80));
  }
  for (const params of ['{"name":"ask_person","arguments":{"kind":"approve","question":"a","question":"b"}}', '{"name":"ask_person","arguments":[]}', "[]"]) {
    const { error } = await client.ask(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":${params}}`, 2);
    assert.equal(error.code, -32602, params);
  }
  client.send(JSON.stringify(askCall(undefined)));
  assert.equal((await client.request(3, "Tools/Call", askCall(3).params)).error.code, -32601);
  assert.equal((await client.request(4, "tools/call", { name: "ask_anybody" })).result.isError, true);
  assert.equal((await client.request(5, "tools/call", { name: "ask_person", arguments: { ...ask, unheard: 1 } })).result.isError, true);
  const denied = await client.request(6, "tools/call", { name: "ask", arguments: { input: {} } });
  assert.equal(JSON.parse(text(denied.result)).behavior, "deny", "a permission prompt that cannot be read is denied");
  assert.deepEqual(await w.pending(), []);
  const asking = client.ask(JSON.stringify(askCall(7)));
  await w.approve();
  assert.equal((await asking).result.structuredContent.state, "approved");
});

test("mcp serve: an era that is not spoken is told which are, and nobody is asked", async (t) => {
  const w = await world(t);
  const client = raw(t, w, ["serve"]);
  const _meta = { ...modernMeta(), "io.modelcontextprotocol/protocolVersion": "2099-01-01" };
  for (const [id, method] of [[1, "tools/call"], [2, "tools/list"], [3, "server/discover"]]) {
    const { error } = await client.request(id, method, { ...askCall(id).params, _meta });
    assert.deepEqual([error.code, error.data], [-32022, { supported: ["2026-07-28"], requested: "2099-01-01" }]);
  }
  // A handshake is answered with what is spoken; its client decides whether that will do.
  const hello = { protocolVersion: "2099-01-01", capabilities: {}, clientInfo: { name: "raw", version: "1" } };
  assert.equal((await client.request(4, "initialize", hello)).result.protocolVersion, "2025-11-25");
  assert.deepEqual(await w.pending(), []);
});

test("a wrong token: the proxy and mcp serve deny, say so, and nobody is asked", async (t) => {
  const w = await world(t);
  const env = { HOLDPOINT_TOKEN: "hp_program_wrong" };
  for (const kind of [legacy, modern]) {
    const client = await kind.connect(t, w, files(w), { env });
    for (const [name, args] of [["write_file", target(w)], ["list_directory", { path: w.room }]]) {
      const result = await kind.call(client, name, args);
      assert.equal(result.isError, true, `${name}: also what a rule would allow`);
      assert.match(text(result), /token[\s\S]*Nothing was run/i);
    }
    assert.ok(!w.has("proof.txt"));
    const server = await kind.connect(t, w, ["serve"], { env });
    const asked = await kind.call(server, "ask_person", ask);
    assert.equal(asked.isError, true);
    assert.match(text(asked), /token/i);
    const prompt = await kind.call(server, "ask", { tool_name: "Bash", input: { command: "ls" }, tool_use_id: "t1" });
    assert.equal(JSON.parse(text(prompt)).behavior, "deny");
  }
  assert.deepEqual(await w.pending(), []);
});

test("a token that expired: mcp serve denies, says so, and nobody is asked", async (t) => {
  const w = await world(t);
  const { token } = await w.api("/v1/tokens", { program: "brief", scopes: ["ask"], expires_in_s: 1 });
  const client = raw(t, w, ["serve"], { HOLDPOINT_TOKEN: token });
  await client.hello();
  const isValid = async () => (await fetch(`${w.url}/v1/me`, { headers: { authorization: `Bearer ${token}` } })).status !== 401;
  while (await isValid()) await new Promise((done) => setTimeout(done, 50));
  const { result } = await client.ask(JSON.stringify(askCall(1)));
  assert.equal(result.isError, true);
  assert.match(text(result), /token/i);
  const prompt = await client.request(2, "tools/call", { name: "ask", arguments: { tool_name: "Bash", input: { command: "ls" }, tool_use_id: "t1" } });
  assert.equal(JSON.parse(text(prompt.result)).behavior, "deny");
  assert.deepEqual(await w.pending(), []);
});

test("a token that can be none: the proxy and mcp serve say so and end", async (t) => {
  const w = await world(t);
  for (const args of [files(w), ["serve"]]) {
    const client = raw(t, w, args, { HOLDPOINT_TOKEN: "hp_program x" });
    let err = "";
    client.child.stderr.on("data", (data) => (err += data));
    assert.notEqual(await client.end(), 0);
    assert.match(err, /token in HOLDPOINT_TOKEN/);
  }
});

/** A service that hears everything and answers what `does` says; to all else it says nothing, and keeps the connection. */
async function service(t, does) {
  const heard = [];
  const server = createServer(async (request, reply) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    if (request.method !== "POST") return reply.writeHead(405).end();
    const message = JSON.parse(body);
    heard.push(message);
    if (message.id === undefined) return reply.writeHead(202).end();
    const result = does(message);
    if (!result) return;
    reply.writeHead(200, { "content-type": "application/json" });
    reply.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  t.after(() => server.closeAllConnections() ?? server.close());
  return { url: `http://127.0.0.1:${server.address().port}/mcp`, heard };
}
const handshake = ({ params }) => ({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } });

test("a service that never answers a call: other calls are served, and a cancellation reaches it", async (t) => {
  const w = await world(t);
  const { url, heard } = await service(t, (message) => {
    if (message.method === "initialize") return handshake(message);
    if (message.method === "tools/list") return { tools: [tool("echo_hang"), tool("echo")] };
    if (message.params.name === "echo") return { content: [{ type: "text", text: "said" }] };
  });
  const client = raw(t, w, ["proxy", "--name", "x", "--url", url]);
  await client.hello();
  client.request(1, "tools/call", { name: "echo_hang", arguments: {} });
  const isSent = ({ method, params }) => method === "tools/call" && params.name === "echo_hang";
  while (!heard.some(isSent)) await new Promise((done) => setTimeout(done, 10));
  assert.equal((await client.request(2, "tools/call", { name: "echo", arguments: {} })).result.content[0].text, "said");
  client.send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}');
  while (!heard.some(({ method }) => method === "notifications/cancelled")) await new Promise((done) => setTimeout(done, 10));
  assert.equal((await client.request(3, "tools/call", { name: "echo", arguments: {} })).result.content[0].text, "said");
  assert.equal(heard.filter(isSent).length, 1, "it is sent once");
  assert.equal(await client.end(), 0, "and the proxy can end");
});

test("a service that never says what it offers: the call is denied, and not sent", async (t) => {
  const w = await world(t);
  const { url, heard } = await service(t, (message) => (message.method === "initialize" ? handshake(message) : undefined));
  const client = raw(t, w, ["proxy", "--name", "x", "--url", url]);
  await client.hello();
  const { result } = await client.request(1, "tools/call", { name: "echo", arguments: {} });
  assert.equal(result.isError, true);
  assert.match(text(result), /Nothing was run/);
  assert.ok(!heard.some(({ method }) => method === "tools/call"));
});

test("a service that never answers the handshake keeps no proxy from ending", async (t) => {
  const w = await world(t);
  const { url, heard } = await service(t, () => undefined);
  const client = raw(t, w, ["proxy", "--name", "x", "--url", url]);
  client.request(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } });
  while (heard.length === 0) await new Promise((done) => setTimeout(done, 10));
  assert.equal(await client.end(), 0);
});

const stubbed = (room) => `\n[mcp.upstreams.stub]\nargv = ${JSON.stringify([process.execPath, STUB, room])}\n`;

test("a program behind /mcp that dies in a call: with a handshake, the client hears that nobody knows, and a new session is served", async (t) => {
  const w = await world(t, stubbed);
  showTools(w);
  const client = await legacyHttp.connect(t, w, "/mcp/stub");
  const dying = legacyHttp.call(client, "die", {});
  const hold = await w.approve();
  const result = await dying;
  assert.equal(result.isError, true);
  assert.match(text(result), /may or may not have been carried out/);
  assert.equal((await w.api(`/v1/holds/${hold.id}`)).outcome.state, "executing");
  await assert.rejects(client.listTools(), /is gone|session/i);
  const next = await legacyHttp.connect(t, w, "/mcp/stub");
  const noting = legacyHttp.call(next, "note", {});
  await w.approve();
  assert.equal(text(await noting), "noted");
});

test("a program behind /mcp that dies in a call: without a handshake, the client hears that nobody knows, and the next call is served", async (t) => {
  const w = await world(t, stubbed);
  showTools(w);
  const client = await modernHttp.connect(t, w, "/mcp/stub");
  const dying = modernHttp.call(client, "die", {});
  const hold = await w.approve();
  const result = await dying;
  assert.equal(result.isError, true);
  assert.match(text(result), /may or may not have been carried out/);
  assert.equal((await w.api(`/v1/holds/${hold.id}`)).outcome.state, "executing");
  const noting = modernHttp.call(client, "note", {});
  await w.approve();
  assert.equal(text(await noting), "noted");
  assert.equal(calls(w).length, 2, "nothing was sent twice");
});

test("a program behind /mcp that dies while its call waits for a person: denied, and the approval stays unused", async (t) => {
  const w = await world(t, stubbed);
  showTools(w);
  const client = await legacyHttp.connect(t, w, "/mcp/stub");
  const noting = legacyHttp.call(client, "note", {});
  const hold = await w.hold();
  const dying = legacyHttp.call(client, "die", {});
  await w.approve(({ call }) => call.tool === "stub__die");
  await dying;
  await w.approve(({ id }) => id === hold.id);
  const result = await noting;
  assert.equal(result.isError, true);
  assert.match(text(result), /is gone[\s\S]*Nothing was run/);
  assert.equal(calls(w).filter((line) => line.includes('"note"')).length, 0);
});

test("one of several programs behind /mcp dies: its calls are denied, and the others are served in each era", async (t) => {
  const w = await world(t, (room) => stubbed(room) + fronted()(room).replace("[mcp]", ""));
  showTools(w);
  for (const kind of [legacyHttp, modernHttp]) {
    const client = await kind.connect(t, w, "/mcp");
    const dying = kind.call(client, "stub__die", {});
    await w.approve();
    assert.match(text(await dying), /may or may not have been carried out/);
    assert.match(text(await kind.call(client, "stub__note", {})), /is gone[\s\S]*Nothing was run/);
    assert.ok(!(await kind.call(client, "files__list_directory", { path: w.room })).isError);
  }
  const next = await legacyHttp.connect(t, w, "/mcp");
  const noting = legacyHttp.call(next, "stub__note", {});
  await w.approve();
  assert.equal(text(await noting), "noted");
});

test("a program behind /mcp that cannot live is told about in each era", async (t) => {
  const w = await world(t, () => `\n[mcp.upstreams.broken]\nargv = ${JSON.stringify([process.execPath, "-e", "process.exit(1)"])}\n`);
  await assert.rejects(legacyHttp.connect(t, w, "/mcp/broken"), /broken[\s\S]*is gone/);
  const { error } = await last(await modernPost(w, "/mcp/broken", "tools/list", {}));
  assert.match(error.message, /broken/);
  const { result } = await last(await modernPost(w, "/mcp/broken", "tools/call", { name: "note", arguments: {} }));
  assert.equal(result.isError, true);
});
