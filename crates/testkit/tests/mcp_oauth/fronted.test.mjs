// A server behind OAuth, fronted under `/mcp/notes` for an official client: connected, renewed, lost, connected by another person.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";

import { mcpServer, provider } from "./partner.mjs";
import { world } from "./world.mjs";

const CONNECT = /the MCP server `notes` is not connected: run `holdpoint mcp connect notes`/;

async function set(t, settings) {
  const partner = await provider(t, settings);
  const mcp = await mcpServer(t, partner);
  const w = await world(t, mcp.url, "allow_private_addresses = true", { fronted: true });
  return { partner, mcp, w };
}

const text = (result) => result.content.map((block) => block.text).join("\n");
const call = (client, name) => client.callTool({ name, arguments: {} });

/** A call that a person approves while it waits. */
async function approved(w, client) {
  const [result] = await Promise.all([call(client, "write_note"), w.answer("approve")]);
  return text(result);
}

async function lose(partner, mcp) {
  for (const token of mcp.tokens) {
    const found = await partner.op.AccessToken.find(token);
    if (!found) continue;
    await partner.op.RefreshToken.revokeByGrantId(found.grantId);
    await found.destroy();
  }
}

test("an official client behind /mcp writes once it is approved, with a token that it never sees", async (t) => {
  const { partner, mcp, w } = await set(t);
  assert.equal(await w.state(), "not_connected");
  await assert.rejects(w.client(), CONNECT, "a client is told what to do before anything is sent");
  assert.deepEqual([...mcp.tokens], []);
  await w.connect();
  const client = await w.client();
  const waiting = call(client, "write_note");
  const asked = await w.answer("deny");
  assert.equal((await waiting).isError, true);
  assert.deepEqual(mcp.notes, []);
  assert.equal(asked.context.url, mcp.url);
  assert.equal(await approved(w, client), "written");
  assert.deepEqual(mcp.notes, ["written"]);
  assert.ok(partner.seen.every((one) => one.resource === mcp.url), JSON.stringify(partner.seen));
  const doctor = await (await w.cli(["doctor"])).ended();
  assert.match(doctor.out, /`notes` is connected/);
  assert.match((await (await w.cli(["mcp", "list"])).ended()).out, /notes .* connected by ana/);
});

test("a server that repeats its token tells it to no client, and no log, export or metric has one", async (t) => {
  const { partner, mcp, w } = await set(t);
  const secrets = new Set();
  partner.op.on("grant.success", (ctx) => {
    for (const key of ["access_token", "refresh_token"]) if (ctx.body?.[key]) secrets.add(ctx.body[key]);
    for (const key of ["code", "code_verifier", "refresh_token"]) if (ctx.oidc.params?.[key]) secrets.add(ctx.oidc.params[key]);
  });
  await w.connect();
  const client = await w.client();
  assert.equal(text(await call(client, "echo_token")), "called with ‹secret›");
  for (const token of mcp.tokens) await (await partner.op.AccessToken.find(token))?.destroy();
  assert.equal(text(await call(client, "echo_token")), "called with ‹secret›");
  assert.ok(secrets.size >= 5, `${secrets.size}`);
  const told = await w.told();
  for (const secret of secrets) assert.ok(!told.includes(secret), "a secret was told");
});

test("401 in the middle of a session: one renewal for all calls, each sent once more, and run once", async (t) => {
  const { partner, mcp, w } = await set(t);
  await w.connect();
  const client = await w.client();
  await call(client, "echo_token");
  for (const token of mcp.tokens) await (await partner.op.AccessToken.find(token))?.destroy();
  const before = partner.refreshes;
  const results = await Promise.all([1, 2, 3, 4].map(() => call(client, "echo_token")));
  assert.ok(results.every((result) => text(result) === "called with ‹secret›"), JSON.stringify(results));
  assert.equal(partner.refreshes, before + 1, "one renewal for all of them");
  assert.equal(await approved(w, client), "written");
  assert.deepEqual(mcp.notes, ["written"]);
  await w.stop();
  await w.start();
  assert.equal(await w.state(), "connected");
  assert.equal(text(await call(await w.client(), "echo_token")), "called with ‹secret›");
});

test("a connection that is lost denies calls with what to do, and nothing reaches the server", async (t) => {
  const { partner, mcp, w } = await set(t);
  await w.connect();
  const client = await w.client();
  await call(client, "echo_token");
  await lose(partner, mcp);
  const denied = await call(client, "echo_token");
  assert.equal(denied.isError, true);
  assert.match(text(denied), CONNECT);
  assert.match(text(denied), /Nothing was run/);
  assert.equal(await w.state(), "not_connected");
  assert.deepEqual(mcp.notes, []);
});

test("an approval is for the connection that it was given under, and a session does not go on under another", async (t) => {
  const { mcp, w } = await set(t);
  await w.connect();
  const client = await w.client();
  const waiting = call(client, "write_note");
  // Nobody has answered when another consent takes the place of the first.
  for (let tries = 0; (await w.api("/v1/holds?state=pending")).items.length < 1 && tries < 200; tries += 1) {
    await new Promise((done) => setTimeout(done, 50));
  }
  await w.connect();
  await w.answer("approve");
  const result = await waiting;
  assert.equal(result.isError, true, text(result));
  assert.match(text(result), /connected anew/);
  assert.deepEqual(mcp.notes, [], "what was approved for one account does not run for another");
  await assert.rejects(call(client, "write_note"), /no such session/);
  assert.equal(await approved(w, await w.client()), "written");
});

test("the proxy of a developer says where a server behind OAuth belongs", async (t) => {
  const { mcp, w } = await set(t);
  const env = { PATH: process.env.PATH, HOME: w.home, HOLDPOINT_TOKEN: w.tokens.program_token, HOLDPOINT_SERVER: w.origin };
  const proxy = spawn(process.env.HOLDPOINT_BIN, ["mcp", "proxy", "--name", "notes", "--url", mcp.url], { env, stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => proxy.kill("SIGKILL"));
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } };
  proxy.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
  const [line] = await once(proxy.stdout, "data");
  const { error } = JSON.parse(line);
  assert.match(error.message, /wants OAuth.*\[mcp\.upstreams\.NAME\]` with `auth = "oauth"`.*\/mcp\/NAME/);
});
