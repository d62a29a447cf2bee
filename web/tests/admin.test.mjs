// What admins do on the page: take a grant back, make and revoke tokens, freeze, and read the audit log.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { cardOf, completed, holdId, open } from "./harness.mjs";

let world;
before(async () => {
  world = await open();
});
afterEach(() => world.closePages());
after(async () => {
  await world?.close();
});

async function openAdmin(tab) {
  const page = await world.page();
  await page.goto(world.url(`/admin/${tab}`));
  await page.getByRole("heading", { name: "Admin" }).waitFor();
  return page;
}

test("a grant is listed with what it covers, and revoked", async () => {
  const chat = await world.page();
  const id = await holdId((await world.scenario(chat, "approve")).first());
  const hold = await world.hold(id);
  await world.api("POST", `/v1/holds/${id}/answer`, { digest: hold.digest, answer: { verdict: "approve", scope: "session" } });
  await completed(chat);
  const page = await openAdmin("grants");
  const row = page.locator("[data-grant]").first();
  await row.waitFor();
  assert.match(await row.innerText(), /sql_modify/);
  assert.match(await page.locator(".admin-panel").innerText(), /1 active/);
  // What it would have let through, call by call.
  await row.getByRole("button", { name: "What would it have covered?" }).click();
  const matches = row.locator("[data-testid=matches]");
  await matches.waitFor();
  const told = await world.api("GET", `/v1/grants/${await row.getAttribute("data-grant")}/matches`);
  assert.ok(told.count >= 1);
  assert.ok((await matches.innerText()).includes(`covered ${told.count} of ${told.looked_at} calls`));
  assert.equal(await matches.getByRole("link").count(), told.matches.length);
  await row.getByRole("button", { name: "Revoke" }).click();
  await page.locator("[data-grant][data-revoked=true], .admin-empty").first().waitFor();
  const { items } = await world.api("GET", "/v1/grants");
  assert.ok(items.every((grant) => grant.revoked));
  // The session and the hold it came from are a link away.
  await page.goto(world.url("/admin/grants"));
});

test("a token is made for a program, shown once, and revoked after a second press", async () => {
  const page = await openAdmin("tokens");
  await page.getByRole("button", { name: "New token for a program…" }).click();
  const sheet = page.locator("[data-sheet=token]");
  await sheet.getByLabel("Name of the program").fill("ci-deploy");
  await sheet.getByRole("button", { name: "Make the token" }).click();
  await sheet.getByText("This is shown once").waitFor();
  const secret = (await sheet.locator(".fx-lines").innerText()).trim();
  await world.api("POST", "/v1/holds", { kind: "approve", title: "with the new token", call: { tool: "t", arguments: {} } }, secret);
  await sheet.getByRole("button", { name: "Close" }).click();
  const row = page.locator("[data-token]", { hasText: "ci-deploy" });
  await row.waitFor();
  assert.ok(!(await page.content()).includes(secret), "the secret is gone from the page");
  await row.getByRole("button", { name: "Revoke" }).click();
  assert.equal((await world.api("GET", "/v1/tokens")).items.filter((token) => token.program === "ci-deploy").length, 1, "one press revokes nothing");
  await row.getByRole("button", { name: "Really revoke" }).click();
  await row.waitFor({ state: "detached" });
  await assert.rejects(world.api("GET", "/v1/me", undefined, secret), /401/);
});

test("a login link for a person works once", async () => {
  const page = await openAdmin("tokens");
  await page.getByRole("button", { name: "Login link for a person…" }).click();
  const sheet = page.locator("[data-sheet=login]");
  await sheet.getByLabel("Their id in the configuration").fill("nobody-like-this");
  await sheet.getByRole("button", { name: "Make the link" }).click();
  await sheet.locator("[data-code]").waitFor();
  await sheet.getByLabel("Their id in the configuration").fill("ana");
  await sheet.getByRole("button", { name: "Make the link" }).click();
  const url = (await sheet.locator(".fx-lines").innerText()).trim();
  const other = await world.page({ loggedIn: false });
  await other.goto(url);
  await other.click("button");
  await other.locator(".shell").waitFor();
});

test("freezing takes a reason, and shows it to everyone at once", async () => {
  const watcher = await world.page();
  await watcher.goto(world.url("/"));
  const page = await openAdmin("grants");
  await page.getByRole("button", { name: "Freeze everything…" }).click();
  await page.getByRole("button", { name: "Freeze", exact: true }).click();
  assert.match(await page.locator("[data-sheet=freeze] .field-error").innerText(), /required/);
  await page.getByLabel("Why (everyone sees it)").fill("release night");
  await page.getByRole("button", { name: "Freeze", exact: true }).click();
  for (const one of [page, watcher]) {
    await one.locator(".banner-frozen").waitFor();
    assert.match(await one.locator(".banner-frozen").innerText(), /release night/);
  }
  await world.api("DELETE", "/v1/freeze");
  await watcher.locator(".banner-frozen").waitFor({ state: "detached" });
});

test("the audit log is searched, leads to the hold, and is verified", async () => {
  const hold = await world.openHold({ kind: "approve", title: "for the log", call: { tool: "t", arguments: {} } });
  const page = await openAdmin("audit");
  await page.locator("[data-seq]").first().waitFor();
  await page.getByLabel("Search").fill(hold.id);
  await page.getByRole("button", { name: "Show", exact: true }).click();
  const entry = page.locator("[data-seq]", { hasText: "hold opened demo" });
  await page.waitForFunction(() => document.querySelectorAll("[data-seq]").length === 1);
  await entry.locator("summary").click();
  await page.getByRole("button", { name: "Verify now" }).click();
  await page.locator("[data-testid=verified]", { hasText: /\d+ entries, none changed/ }).waitFor();
  await entry.getByRole("link", { name: hold.id }).click();
  await cardOf(page, hold.id).waitFor();
});

test("figures, people, channels and what the rules would say", async () => {
  const page = await openAdmin("figures");
  await page.locator("[data-testid=figures]").waitFor();
  const told = await world.api("GET", "/v1/figures?days=7");
  assert.equal(await page.locator("[data-testid=figures] dd").first().innerText(), String(told.total.asked));
  await page.goto(world.url("/admin/people"));
  assert.match(await page.locator("[data-person=ana]").innerText(), /Ana[\s\S]*admin/);
  await page.goto(world.url("/admin/channels"));
  await page.locator("[data-channel], .admin-empty").first().waitFor();
  await page.goto(world.url("/admin/policy"));
  await page.getByLabel("Tool").fill("sql_modify");
  await page.getByLabel("Arguments (JSON)").fill('{"sql":"DELETE FROM orders WHERE status=1"}');
  await page.getByRole("button", { name: "Explain" }).click();
  await page.locator("[data-testid=explained][data-decision=ask]").waitFor();
  assert.doesNotMatch(await page.locator("[data-testid=explained]").innerText(), /line 0/);
  await page.getByRole("button", { name: "Compare" }).click();
  const replay = await world.api("GET", "/v1/policy/replay?days=30");
  await page.locator("[data-testid=replay]", { hasText: `${replay.calls} calls` }).waitFor();
  assert.equal(await page.locator("[data-change]").count(), replay.changes.length);
  assert.match(await page.locator("[data-testid=explained]").innerText(), /changes to orders need a dba/);
});

test("agents and their tools are listed as configured", async () => {
  const page = await openAdmin("agents");
  await page.locator("[data-tool=sql_modify]").waitFor();
  const { items } = await world.api("GET", "/v1/agents");
  assert.equal(await page.locator("[data-tool]").count(), items.flatMap((agent) => agent.tools).length);
  const modify = page.locator("[data-tool=sql_modify]");
  await modify.getByText("What it takes").click();
  assert.match(await modify.locator("details .fx-lines").innerText(), /"sql"/);
});
