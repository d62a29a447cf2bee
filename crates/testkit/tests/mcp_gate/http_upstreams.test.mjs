// Upstreams that are services, behind `holdpoint mcp proxy`: the public everything server, and one of the modern era in Python.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { legacy, modern, text } from "./clients.mjs";
import { everythingService, writerService } from "./services.mjs";
import { raw } from "./raw.mjs";
import { nowhere, world } from "./world.mjs";

/** One service behind the proxy, under the name `x`. */
function behind(w, server) {
  writeFileSync(join(w.home, "mcp.json"), JSON.stringify({ mcpServers: { x: server } }));
  return ["proxy", "--config", "mcp.json"];
}

for (const kind of [legacy, modern]) {
  test(`${kind.name}: the everything server over HTTP, allowed, asked about and passed on`, async (t) => {
    const w = await world(t);
    const url = await everythingService(t);
    const client = await kind.connect(t, w, behind(w, { url }), { capabilities: { sampling: {}, elicitation: {} } });
    const names = (await client.listTools()).tools.map((tool) => tool.name);
    assert.ok(names.includes("x__echo"), String(names));
    assert.match(text(await kind.call(client, "x__echo", { message: "hi" })), /hi/);
    const { resources } = await client.listResources();
    assert.ok((await client.readResource({ uri: resources[0].uri })).contents.length > 0);
    const seen = [];
    const long = kind.call(client, "x__trigger-long-running-operation", { duration: 0.4, steps: 2 }, { onprogress: (progress) => seen.push(progress) });
    const hold = await w.hold();
    assert.equal(hold.call.tool, "x__trigger-long-running-operation");
    assert.equal(hold.context.url, url);
    await w.approve();
    assert.ok(!(await long).isError);
    assert.ok(seen.some(({ total }) => total === 2), JSON.stringify(seen));
    assert.equal((await w.settled(hold.id)).outcome.state, "succeeded");
  });
}

test("a question of a legacy service reaches the client, and its answer the service", async (t) => {
  const w = await world(t);
  const url = await everythingService(t);
  const { CreateMessageRequestSchema } = await import("@modelcontextprotocol/sdk/types.js");
  const client = await legacy.connect(t, w, behind(w, { url }), {
    capabilities: { sampling: {} },
    prepare: (client) =>
      client.setRequestHandler(CreateMessageRequestSchema, () => ({ model: "m", role: "assistant", content: { type: "text", text: "sampled" } })),
  });
  // The service offers the tool once it has heard what the client can do.
  await client.listTools();
  const sampling = legacy.call(client, "x__trigger-sampling-request", { prompt: "say it", maxTokens: 5 });
  await w.approve();
  assert.match(text(await sampling), /sampled/);
});

test("a service gets the configured headers, and the call byte for byte", async (t) => {
  const w = await world(t);
  const got = [];
  const url = await service(t, ({ id, method, params }, { headers }, line) => {
    got.push({ method, key: headers["x-key"], session: headers["mcp-session-id"], line });
    if (method === "initialize") return { id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } } };
    if (method === "tools/list") return { id, result: { tools: [{ name: "echo", inputSchema: { type: "object" } }] } };
    if (method === "tools/call") return { id, result: { content: [{ type: "text", text: "done" }] } };
  });
  const client = raw(t, w, behind(w, { url, headers: { "X-Key": "hunter2" } }));
  await client.hello();
  await client.request(1, "tools/list");
  const done = await client.ask('{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x__echo","arguments":{"n":1.10,"\\u0061":1e2},"_x":[1.0]}}');
  assert.equal(done.result.content[0].text, "done");
  assert.ok(got.every(({ key }) => key === "hunter2"));
  assert.ok(got.slice(1).every(({ session }) => session === "session-1"), JSON.stringify(got));
  const call = got.find(({ method }) => method === "tools/call");
  assert.ok(call.line.includes('"arguments":{"n":1.10,"\\u0061":1e2},"_x":[1.0]'), call.line);
  assert.equal(await client.end(), 0);
  assert.equal(got.at(-1).method, "DELETE", "the session is ended");
});

test("modern upstream over HTTP: the modern client is passed on, asked about, and answers the service's own question", async (t) => {
  const w = await world(t);
  const url = await writerService(t, w.room);
  const client = await modern.connect(t, w, ["proxy", "--name", "writer", "--url", url], {
    capabilities: { elicitation: { form: {} } },
    prepare: (client) => client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { name: "Ben" } })),
  });
  assert.equal(client.getNegotiatedProtocolVersion(), "2026-07-28");
  const calling = modern.call(client, "sign", { name: "letter.txt" });
  const hold = await w.hold();
  assert.equal(hold.call.tool, "writer__sign");
  assert.ok(!w.has("letter.txt"));
  await w.approve();
  assert.match(text(await calling), /signed by Ben/);
  assert.equal((await w.settled(hold.id)).outcome.state, "succeeded");
});

test("upstream of both eras over HTTP: with a handshake, a file is written after approval", async (t) => {
  const w = await world(t);
  const url = await writerService(t, w.room);
  const client = raw(t, w, behind(w, { url }));
  await client.hello();
  const tools = await client.request(1, "tools/list");
  assert.ok(tools.result.tools.some(({ name }) => name === "x__write"), tools.line);
  const calling = client.request(2, "tools/call", { name: "x__write", arguments: { name: "proof.txt", text: "yes" } });
  await w.hold();
  assert.ok(!w.has("proof.txt"));
  await w.approve();
  const done = await calling;
  assert.ok(!done.result.isError && w.has("proof.txt"), done.line);
});

for (const [what, answer, told] of [
  ["turns us away", { status: 401 }, /turned us away \(401/],
  ["sends us elsewhere", { status: 302, location: "http://127.0.0.1:9/" }, /redirects are not followed/],
  ["fails", { status: 500 }, /may or may not have been carried out/],
  ["hangs up", "hang up", /may or may not have been carried out/],
]) {
  test(`a service that ${what} in a call is told about, and nothing is made up`, async (t) => {
    const w = await world(t);
    const url = await service(t, ({ id, method, params }) => {
      if (method === "initialize") return { id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } } };
      if (method === "tools/list") return { id, result: { tools: [{ name: "echo", inputSchema: { type: "object" } }] } };
      if (method === "tools/call") return answer;
    });
    const client = raw(t, w, behind(w, { url }));
    await client.hello();
    const done = await client.request(2, "tools/call", { name: "x__echo", arguments: {} });
    assert.equal(done.result.isError, true, done.line);
    assert.match(done.result.content[0].text, told);
  });
}

test("a service that is not there is left out, and says so", async (t) => {
  const w = await world(t);
  const client = raw(t, w, behind(w, { url: await nowhere() }));
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } };
  const hello = await client.request(0, "initialize", params);
  assert.match(hello.error.message, /none of the MCP servers came to terms/);
});

/** A service of this test's own: `does` answers each message. */
async function service(t, does) {
  const server = createServer(async (request, reply) => {
    let line = "";
    for await (const chunk of request) line += chunk;
    const message = request.method === "POST" ? JSON.parse(line) : { method: request.method };
    const answer = does(message, request, line);
    if (answer === "hang up") return request.socket.destroy();
    if (answer?.status) return reply.writeHead(answer.status, answer.location ? { location: answer.location } : {}).end();
    if (!answer) return reply.writeHead(request.method === "GET" ? 405 : 202).end();
    reply.writeHead(200, { "content-type": "application/json", "mcp-session-id": "session-1" });
    reply.end(JSON.stringify({ jsonrpc: "2.0", ...answer }));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  t.after(() => server.closeAllConnections() ?? server.close());
  return `http://127.0.0.1:${server.address().port}/mcp`;
}
