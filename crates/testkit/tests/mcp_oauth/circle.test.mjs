// The whole circle with a real provider and a real MCP server: connect, call, renew, lose, connect again.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { mcpServer, provider } from "./partner.mjs";
import { world } from "./world.mjs";

const NOT_CONNECTED = /the MCP server `notes` is not connected: run `holdpoint mcp connect notes`/;

test("an admin connects a server, and a call runs once it is approved", async (t) => {
  const partner = await provider(t);
  const mcp = await mcpServer(t, partner);
  const w = await world(t, mcp.url);
  assert.equal(await w.state(), "not_connected");
  await w.connect();
  assert.equal(await w.state(), "connected");
  await w.offered();
  assert.equal(await w.say("write", { approve: true }), "Done: written");
  assert.deepEqual(mcp.notes, ["written"]);
  // Where the resource is named, and where it is not (RFC 8707, RFC 7591).
  assert.equal(partner.asked.resource, mcp.url);
  assert.equal(partner.asked.code_challenge_method, "S256");
  assert.ok(partner.seen.every((one) => one.resource === mcp.url), JSON.stringify(partner.seen));
  assert.equal(partner.registered.resource, undefined);
  assert.equal(partner.registered.token_endpoint_auth_method, "none");
});

test("the command line prints the address, waits until it is done, and lists and disconnects", async (t) => {
  const partner = await provider(t);
  const mcp = await mcpServer(t, partner);
  const w = await world(t, mcp.url);
  const browser = await w.browser();
  const connecting = await w.cli(["mcp", "connect", "notes", "--json"]);
  const begun = JSON.parse(await connecting.firstLine());
  await browser.submit(await browser.consent(begun.authorize_url));
  const { code, out } = await connecting.ended();
  assert.equal(code, 0, out);
  assert.equal(JSON.parse(out.trim().split("\n").at(-1)).state, "connected");
  const listed = await (await w.cli(["mcp", "list"])).ended();
  assert.match(listed.out, /notes .* connected by ana/);
  const doctor = await (await w.cli(["doctor"])).ended();
  assert.match(doctor.out, /`notes` is connected/);
  const gone = await (await w.cli(["mcp", "disconnect", "notes"])).ended();
  assert.equal(gone.code, 0, gone.err);
  assert.equal(await w.state(), "not_connected");
  const ana = { person: "ana" };
  const issuer = partner.origin;
  assert.deepEqual(await w.audited("mcp_server_connected"), [{ server: "notes", issuer, by: ana }]);
  assert.deepEqual(await w.audited("mcp_server_disconnected"), [{ server: "notes", issuer, by: ana }]);
  assert.match((await (await w.cli(["doctor"])).ended()).out, /`notes` is not connected[^→]*→ holdpoint mcp connect notes/);
  // Given back, and not only forgotten.
  const token = [...mcp.tokens][0];
  assert.equal(await partner.op.AccessToken.find(token), undefined);
});

test("a token that expires is renewed, once for calls that come together, and a restart keeps the connection", async (t) => {
  const partner = await provider(t);
  const mcp = await mcpServer(t, partner);
  const w = await world(t, mcp.url);
  await w.connect();
  await w.offered();
  // The provider forgets the token, as if it had expired there: 401, renewed, sent again.
  for (const token of mcp.tokens) await (await partner.op.AccessToken.find(token))?.destroy();
  const before = partner.refreshes;
  const words = await Promise.all(["echo", "echo", "echo", "echo"].map((text) => w.say(text)));
  assert.ok(words.every((text) => text === "Done: called with ‹secret›"), JSON.stringify(words));
  assert.equal(partner.refreshes, before + 1, "one renewal for all of them");
  await w.stop();
  await w.start();
  assert.equal(await w.state(), "connected");
  await w.offered();
  assert.match(await w.say("echo"), /^Done/);
  assert.equal(partner.refreshes, before + 1);
});

test("a token is renewed before it expires", async (t) => {
  const partner = await provider(t, { ttl: 4 });
  const mcp = await mcpServer(t, partner);
  const w = await world(t, mcp.url);
  await w.connect();
  await w.offered();
  // In the last quarter of its four seconds: still good, and renewed all the same.
  await new Promise((done) => setTimeout(done, 3_200));
  partner.ttl = 600;
  assert.match(await w.say("echo"), /^Done/);
  assert.ok(partner.refreshes >= 1);
  assert.deepEqual(mcp.refused, [], "no call came with a token that was over");
});

test("a refused refresh token denies calls with what to do, and nothing reaches the server", async (t) => {
  const partner = await provider(t);
  const mcp = await mcpServer(t, partner);
  const w = await world(t, mcp.url);
  await w.connect();
  await w.offered();
  for (const token of mcp.tokens) {
    const found = await partner.op.AccessToken.find(token);
    await partner.op.RefreshToken.revokeByGrantId(found.grantId);
    await found.destroy();
  }
  const said = await w.say("write", { approve: true });
  assert.match(said, NOT_CONNECTED);
  assert.deepEqual(mcp.notes, []);
  assert.equal(await w.state(), "not_connected");
  assert.match(w.log, /its tokens cannot be renewed/);
  const [lost, ...more] = await w.audited("mcp_server_disconnected");
  assert.deepEqual({ ...lost, why: "" }, { server: "notes", issuer: partner.origin, by: "runtime", why: "" });
  assert.match(lost.why, /its tokens cannot be renewed: .*invalid_grant/);
  assert.deepEqual(more, [], "it was lost once");
  await w.connect();
  await w.offered();
  assert.equal(await w.say("write", { approve: true }), "Done: written");
});

test("tokens are sealed in the store and nowhere else: no file, log, event, export, metric, model or error has them", async (t) => {
  const partner = await provider(t);
  const mcp = await mcpServer(t, partner);
  const w = await world(t, mcp.url);
  const secrets = new Set();
  partner.op.on("grant.success", (ctx) => {
    for (const key of ["access_token", "refresh_token"]) if (ctx.body?.[key]) secrets.add(ctx.body[key]);
    for (const key of ["code", "code_verifier", "refresh_token"]) if (ctx.oidc.params?.[key]) secrets.add(ctx.oidc.params[key]);
  });
  await w.connect();
  await w.offered();
  // The server repeats its token: the model does not get it.
  assert.equal(await w.say("echo"), "Done: called with ‹secret›");
  for (const token of mcp.tokens) await (await partner.op.AccessToken.find(token))?.destroy();
  await w.say("echo");
  assert.ok(secrets.size >= 5, `${secrets.size}`);
  const told = await w.told();
  for (const secret of secrets) assert.ok(!told.includes(secret), "a secret was told");
  await w.stop();
  // The counter-checks: what is looked for is what the server was given, and the row of it is there.
  assert.ok([...mcp.tokens].some((token) => secrets.has(token)));
  const kept = ["holdpoint.db", "holdpoint.db-wal"]
    .map((file) => join(w.home, "data", file))
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, "latin1"))
    .join("");
  assert.ok(kept.includes("mcp.oauth/"), "the grant is in the database");
  for (const secret of secrets) assert.ok(!kept.includes(secret), "a secret lies in the database as it is");
});

test("a client that was registered by hand is used, with its secret", async (t) => {
  const partner = await provider(t);
  const mcp = await mcpServer(t, partner);
  const w = await world(t, mcp.url);
  const redirect = `${w.origin}/oauth/callback`;
  const registered = await (
    await fetch(`${partner.origin}/reg`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        redirect_uris: [redirect],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: "client_secret_basic",
        application_type: "native",
      }),
    })
  ).json();
  const { writeFileSync } = await import("node:fs");
  await w.stop();
  const file = join(w.home, "holdpoint.toml");
  writeFileSync(join(w.home, "secret"), registered.client_secret);
  const more = `client_id = "${registered.client_id}"\nclient_secret_file = "secret"\nallow_private_addresses = true`;
  writeFileSync(file, readFileSync(file, "utf8").replace("allow_private_addresses = true", more));
  partner.registered = undefined;
  await w.start();
  await w.connect();
  await w.offered();
  assert.equal(await w.say("write", { approve: true }), "Done: written");
  assert.equal(partner.registered, undefined, "nobody was registered");
  assert.ok(!(await w.told()).includes(registered.client_secret));
});
