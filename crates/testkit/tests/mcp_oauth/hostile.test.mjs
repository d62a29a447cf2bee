// What a stranger, another admin, a hostile provider or a hostile MCP server tries while a server is being connected.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Browser, listen, mcpServer, provider } from "./partner.mjs";
import { world } from "./world.mjs";

async function set(t, change, more) {
  const partner = await provider(t);
  const mcp = await mcpServer(t, partner, change);
  return { partner, mcp, w: await world(t, mcp.url, more) };
}

/** Sends what the browser brought back, as the button does, with changes. */
const press = (browser, page, more) => browser.submit(page, more);

test("a wrong state, a replayed code and a used state connect nothing", async (t) => {
  const { w } = await set(t);
  const browser = await w.browser();
  const { authorize_url } = await w.begin();
  const page = await browser.consent(authorize_url);
  const forged = await press(browser, page, { state: "x".repeat(43) });
  assert.equal(forged.status, 403, forged.text);
  assert.match(forged.text, /nobody waits for this/);
  assert.equal(await w.state(), "not_connected");
  assert.equal((await press(browser, page)).status, 200);
  assert.equal(await w.state(), "connected");
  await w.api("/v1/mcp/disconnect", { server: "notes" });
  assert.equal((await press(browser, page)).status, 403, "the state was used");
  // The same code under a new state: the provider refuses what it gave before.
  const again = await w.begin();
  const state = new URL(again.authorize_url).searchParams.get("state");
  const replayed = await press(browser, page, { state });
  assert.equal(replayed.status, 502, replayed.text);
  assert.match(replayed.text, /invalid_grant/);
  assert.equal(await w.state(), "not_connected");
  const [refused, ...more] = await w.audited("mcp_server_refused");
  assert.deepEqual(refused.by, { person: "ana" });
  assert.match(refused.why, /invalid_grant/);
  assert.deepEqual(more, [], "a forged state begins nothing, and so is no attempt");
});

test("opening the page changes nothing, and only the admin who began may press its button", async (t) => {
  const { w } = await set(t);
  const ana = await w.browser("ana");
  const { authorize_url, attempt } = await w.begin();
  const page = await ana.consent(authorize_url);
  await ana.open(page.url);
  await fetch(page.url);
  assert.equal(await w.state(), "not_connected");
  const stranger = await press(new Browser(), page);
  assert.equal(stranger.status, 401, stranger.text);
  const bea = await press(await w.browser("bea"), page);
  assert.equal(bea.status, 403, bea.text);
  assert.match(bea.text, /another person began/);
  // A form on another site, in Ana's browser.
  const { host } = new URL(w.origin);
  const cookie = [...ana.cookies.get(host)].map(([name, value]) => `${name}=${value}`).join("; ");
  const fields = new URLSearchParams(new URL(page.url).search);
  const foreign = await fetch(`${w.origin}/oauth/callback`, {
    method: "POST",
    headers: { cookie, origin: "https://evil.example", "content-type": "application/x-www-form-urlencoded" },
    body: fields.toString(),
  });
  assert.equal(foreign.status, 403);
  assert.equal(await w.state(), "not_connected");
  assert.equal((await press(ana, page)).status, 200, "none of them used it up");
  const ended = await w.api(`/v1/mcp/connect?server=notes&attempt=${attempt}&timeout_s=5`);
  assert.equal(ended.state, "connected");
});

test("an answer of another issuer, or of none, is not taken", async (t) => {
  const { w } = await set(t);
  const browser = await w.browser();
  for (const iss of ["https://evil.example", ""]) {
    const { authorize_url } = await w.begin();
    const page = await browser.consent(authorize_url);
    assert.ok(new URL(page.url).searchParams.get("iss"), "the provider says who it is");
    const mixed = await press(browser, page, { iss });
    assert.equal(mixed.status, 502, mixed.text);
    assert.match(mixed.text, /another authorization server answered/);
    assert.equal((await press(browser, page)).status, 403, "it was used up");
  }
  const { authorize_url } = await w.begin();
  const page = await browser.consent(authorize_url);
  const without = { ...page, text: page.text.replace(/<input[^>]*name="iss"[^>]*>/, "") };
  assert.match((await press(browser, without)).text, /does not say which authorization server gave it/);
  assert.equal(await w.state(), "not_connected");
});

test("a denial of the person is told as one, and the page repeats nothing of the provider's own", async (t) => {
  const { w } = await set(t);
  const browser = await w.browser();
  const { authorize_url, attempt } = await w.begin();
  const { searchParams } = new URL(authorize_url);
  const state = searchParams.get("state");
  const issuer = new URL(authorize_url).origin;
  const query = new URLSearchParams({ state, iss: issuer, error: "access_denied", error_description: "<b>hi</b>" });
  const page = await browser.open(`${w.origin}/oauth/callback?${query}`);
  assert.ok(!page.text.includes("<b>hi"));
  const denied = await press(browser, page);
  assert.match(denied.text, /access_denied/);
  const ended = await w.api(`/v1/mcp/connect?server=notes&attempt=${attempt}&timeout_s=5`);
  assert.deepEqual([ended.state, ended.why], ["failed", "the authorization server refused it: access_denied"]);
});

test("nothing in the address of the page leads elsewhere or leaves its attribute", async (t) => {
  const { w } = await set(t);
  const { authorize_url } = await w.begin();
  const state = new URL(authorize_url).searchParams.get("state");
  const nasty = `"><script>alert(1)</script>`;
  const query = new URLSearchParams({ state, code: nasty, iss: nasty, next: "https://evil.example", redirect_uri: "//evil.example" });
  const reply = await fetch(`${w.origin}/oauth/callback?${query}`, { redirect: "manual" });
  const text = await reply.text();
  assert.equal(reply.status, 200);
  assert.equal(reply.headers.get("location"), null);
  assert.ok(!text.includes("<script") && !text.includes("evil.example"), text);
  assert.match(reply.headers.get("content-security-policy"), /default-src 'self'/);
  const unknown = await fetch(`${w.origin}/oauth/callback?state=zzz&code=1`);
  assert.equal(unknown.status, 400);
});

test("only admins who are people connect, list and disconnect", async (t) => {
  const { w } = await set(t);
  for (const [path, body] of [["/v1/mcp/servers"], ["/v1/mcp/connect", { server: "notes" }], ["/v1/mcp/disconnect", { server: "notes" }]]) {
    assert.equal((await w.raw(path, body, w.tokens.program_token)).status, 403, path);
    assert.equal((await w.raw(path, body, "wrong")).status, 401, path);
  }
  assert.equal((await w.raw("/v1/mcp/connect", { server: "other" })).status, 404);
});

test("metadata of another issuer, of another resource or on another server is refused", async (t) => {
  const other = await listen(t, (_request, response) => response.end("{}"));
  for (const [change, wanted] of [
    [{ resource: "https://other.example/mcp" }, /metadata is that of another resource/],
    [{ metadataUrl: `${other.origin}/x` }, /its metadata is on another server/],
    [{ authorization_servers: [] }, /names no authorization server/],
  ]) {
    const { w } = await set(t, change);
    const reply = await w.raw("/v1/mcp/connect", { server: "notes" });
    assert.equal(reply.status, 422, reply.text);
    assert.match(reply.body.detail, wanted);
  }
  const partner = await provider(t);
  // A server that speaks for another issuer, to get its codes.
  const liar = await listen(t, async (request, response) => {
    const reply = await fetch(`${partner.origin}/.well-known/openid-configuration`);
    response.setHeader("content-type", "application/json");
    response.end(await reply.text());
  });
  const mcp = await mcpServer(t, partner, { authorization_servers: [liar.origin] });
  const w = await world(t, mcp.url);
  assert.match((await w.raw("/v1/mcp/connect", { server: "notes" })).body.detail, /metadata is that of another issuer/);
});

test("no metadata leads into our own network, unless the operator allows it", async (t) => {
  let called = 0;
  const inside = await listen(t, (_request, response) => {
    called += 1;
    response.end("{}");
  });
  for (const [issuer, wanted] of [
    [inside.origin.replace("http:", "https:"), /127\.0\.0\.1 is .*only public addresses may be called/],
    [inside.origin, /does not begin with https:/],
    ["https://169.254.169.254/latest", /only public addresses may be called/],
    ["https://localhost/", /names this machine/],
    ["https://[::ffff:10.0.0.1]/", /only public addresses may be called/],
  ]) {
    const { w } = await set(t, { authorization_servers: [issuer] }, "");
    const reply = await w.raw("/v1/mcp/connect", { server: "notes" });
    assert.equal(reply.status, 422, reply.text);
    assert.match(reply.body.detail, wanted);
    assert.equal(await w.state(), "not_connected");
  }
  assert.equal(called, 0);
});

test("a token endpoint that hangs, floods, redirects or speaks nonsense connects nothing, and in bounded time", async (t) => {
  const { partner, w } = await set(t);
  const browser = await w.browser();
  const stolen = [];
  const thief = await listen(t, (request, response) => {
    stolen.push(request.url);
    response.end("{}");
  });
  for (const [answer, wanted] of [
    [(response) => response.writeHead(307, { location: `${thief.origin}/token` }).end(), /redirects are not followed/],
    [(response) => response.end("<html>"), /cannot be read/],
    [(response) => response.end(JSON.stringify({ access_token: "a\r\nx: y", token_type: "bearer" })), /no token can be/],
    [(response) => response.end(JSON.stringify({ access_token: "a", token_type: "mac" })), /not bearer tokens/],
    [flood, /more than 262144 bytes/],
    [() => {}, /did not answer within 15 s/],
  ]) {
    const { authorize_url } = await w.begin();
    const page = await browser.consent(authorize_url);
    partner.intercept = (request, response) => {
      if (new URL(request.url, partner.origin).pathname !== "/token") return false;
      answer(response);
      return true;
    };
    const pressed = await press(browser, page);
    partner.intercept = undefined;
    assert.equal(pressed.status, 502, pressed.text);
    assert.match(pressed.text, wanted);
    assert.equal(await w.state(), "not_connected");
  }
  assert.deepEqual(stolen, []);
});

function flood(response) {
  const more = () => {
    while (!response.destroyed && response.write("x".repeat(65_536)));
    if (!response.destroyed) response.once("drain", more);
  };
  response.on("error", () => {});
  more();
}

test("tokens go to the address for which they were given, and to no other", async (t) => {
  const { partner, mcp, w } = await set(t);
  await w.connect();
  await w.offered();
  const headers = [];
  const other = await listen(t, (request, response) => {
    headers.push(request.headers.authorization);
    response.writeHead(401).end();
  });
  await w.stop();
  const { readFileSync, writeFileSync } = await import("node:fs");
  const file = `${w.home}/holdpoint.toml`;
  writeFileSync(file, readFileSync(file, "utf8").replace(mcp.url, `${other.origin}/mcp`));
  await w.start();
  assert.equal(await w.state(), "not_connected");
  assert.match(await w.say("echo"), /is not connected/);
  assert.ok(headers.every((header) => header === undefined), JSON.stringify(headers));
  assert.equal(partner.refreshes, 0);
});
