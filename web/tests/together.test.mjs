// Every view is a view of one record: an answer given anywhere settles here, and a view that is behind says so.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { approve, cardOf, completed, holdId, open } from "./harness.mjs";

let world;
before(async () => {
  world = await open();
});
afterEach(() => world.closePages());
after(async () => {
  await world?.close();
});

const call = { tool: "web_test_tool", arguments: { path: "report.txt" } };

test("an answer given elsewhere settles the session, the hold's page and the list", async () => {
  const chat = await world.page();
  const id = await holdId((await world.scenario(chat, "approve")).first());
  const page = await world.page();
  await page.goto(world.url(`/holds/${id}`));
  await page.locator(`.inbox [data-item="${id}"].state-pending`).waitFor();
  await cardOf(page, id).getByRole("button", { name: "Approve once" }).waitFor();

  const { digest } = await world.hold(id);
  await world.api("POST", `/v1/holds/${id}/answer`, { digest, answer: { verdict: "deny", reason: "said elsewhere" } });

  for (const view of [chat, page]) {
    await cardOf(view, id).locator("[data-settled=denied]").waitFor();
    assert.match(await cardOf(view, id).innerText(), /Denied by .+, \d\d:\d\d[\s\S]*said elsewhere/);
    assert.equal(await cardOf(view, id).getByRole("button", { name: "Approve once" }).count(), 0);
  }
  await page.locator(`.inbox [data-item="${id}"]`).waitFor({ state: "detached" });
  await completed(chat);
});

test("a hold that opens while the page stands open appears in the list", async () => {
  const page = await world.page();
  await page.goto(world.url("/"));
  await page.waitForSelector(".inbox");
  const hold = await world.openHold({ kind: "approve", title: "Appears by itself", call });
  await page.locator(`.inbox [data-item="${hold.id}"]`).waitFor();
  assert.match(await page.title(), /^\(\d+\) Holdpoint$/);
});

test("reloading in the middle loses nothing", async () => {
  const page = await world.page();
  const id = await holdId((await world.scenario(page, "approve")).first());
  const shown = await cardOf(page, id).locator("[data-testid=view]").first().textContent();
  await page.reload();
  await cardOf(page, id).waitFor();
  assert.equal(await cardOf(page, id).locator("[data-testid=view]").first().textContent(), shown);
  await approve(cardOf(page, id));
  await page.reload();
  await completed(page);
  await cardOf(page, id).locator("[data-outcome=succeeded]").waitFor();
});

test("a view that is behind is told who decided what and when", async () => {
  const hold = await world.openHold({ kind: "approve", title: "Decided behind your back", call });
  const page = await world.page();
  // Without the event stream the page cannot know, as on a bad connection.
  await page.route("**/v1/events", (route) => route.abort());
  await page.goto(world.url(`/holds/${hold.id}`));
  const card = cardOf(page, hold.id);
  await card.getByRole("button", { name: "Deny…" }).click();
  await world.api("POST", `/v1/holds/${hold.id}/answer`, { digest: hold.digest, answer: { verdict: "approve", scope: "once" } });
  await card.locator(".panel button[type=submit]").click();
  await card.locator("[data-code=hold_already_decided]").waitFor();
  assert.match(await card.locator("[data-code=hold_already_decided]").innerText(), /Not counted: .+ had already decided \(approved, \d\d:\d\d\)/);
  await card.locator("[data-settled=approved]").waitFor();
});

test("when the call changes, the old text stays, the controls are off, and the new one is shown only on request", async () => {
  const hold = await world.openHold({ kind: "approve", title: "Changes while you read", call });
  const changed = { ...hold, version: hold.version + 1, digest: `sha256:${"0".repeat(64)}`, view: { ...hold.view, text: hold.view.text.replace("report.txt", "/etc/passwd"), parts: [{ type: "quote", label: "preview", by: "tool", text: { bytes: 12, lines: [["another call"]] } }] } };
  const before = hold.view.parts.find((part) => part.type === "fields").fields[0].text.lines[0][0];
  const page = await world.page();
  let behind = false;
  const sent = [];
  await page.route(`**/v1/holds/${hold.id}`, (route) => (behind ? route.fulfill({ json: changed }) : route.continue()));
  await page.route(`**/v1/holds/${hold.id}/answer`, (route) => {
    sent.push(route.request().postDataJSON());
    behind = true;
    return route.fulfill({ status: 409, contentType: "application/problem+json", json: { status: 409, code: "version_conflict", detail: "changed" } });
  });
  await page.goto(world.url(`/holds/${hold.id}`));
  const card = cardOf(page, hold.id);
  await card.getByRole("button", { name: "Approve once" }).click();
  await card.locator(".stale").waitFor();
  assert.equal(sent[0].digest, hold.digest, "the digest that was shown is the one that is sent");
  assert.match(await card.locator("[data-code=version_conflict]").innerText(), /The call has changed since it was shown to you\. Your answer was not counted/);
  assert.ok((await card.locator("[data-testid=view]").textContent()).includes(before));
  // What changed is shown against what was read, and Approve is gone.
  const difference = await card.locator("[data-stale-diff]").innerText();
  assert.match(difference, /report\.txt/);
  assert.match(difference, /\/etc\/passwd/);
  assert.equal(await card.locator("[data-approve]").count(), 0);
  await card.getByRole("button", { name: /^Read the new call/ }).click();
  assert.match(await card.locator("[data-testid=view]").textContent(), /another call/);
  assert.ok(!(await card.locator("[data-testid=view]").textContent()).includes(before));
  await card.locator("[data-approve]:not([disabled])").waitFor();
});

test("an expired hold says that nobody decided, and does not look like a denial", async () => {
  const hold = await world.openHold({ kind: "approve", title: "Nobody comes", call, expires_in_s: 2 });
  const page = await world.page();
  await page.goto(world.url(`/holds/${hold.id}`));
  const card = cardOf(page, hold.id);
  await card.locator("[data-settled=expired]").waitFor();
  assert.match(await card.innerText(), /nobody decided in time/);
  assert.equal(await card.locator("[data-settled=denied], .badge.state-denied").count(), 0);
});

test("a withdrawn hold says that it was cancelled", async () => {
  const hold = await world.openHold({ kind: "approve", title: "Withdrawn", call });
  const page = await world.page();
  await page.goto(world.url(`/holds/${hold.id}`));
  await cardOf(page, hold.id).getByRole("button", { name: "Approve once" }).waitFor();
  await world.api("POST", `/v1/holds/${hold.id}/cancel`, { reason: "no longer needed" }, world.ready.program_token);
  await cardOf(page, hold.id).locator("[data-settled=cancelled]").waitFor();
  assert.match(await cardOf(page, hold.id).innerText(), /Cancelled by .+, \d\d:\d\d[\s\S]*no longer needed/);
});

test("a lost reply is asked for again with the same key, and the answer counts once", async () => {
  const hold = await world.openHold({ kind: "approve", title: "The reply is lost", call });
  const page = await world.page();
  const keys = [];
  await page.route("**/v1/events", (route) => route.abort());
  await page.route(`**/v1/holds/${hold.id}/answer`, async (route) => {
    keys.push(route.request().headers()["idempotency-key"]);
    if (keys.length > 1) return route.continue();
    await route.fetch();
    return route.abort();
  });
  // The page re-reads the hold after a lost reply; here it must not learn that way, so that it sends again.
  let reads = 0;
  await page.route(`**/v1/holds/${hold.id}`, (route) => (++reads === 1 ? route.continue() : route.abort()));
  await page.goto(world.url(`/holds/${hold.id}`));
  const card = cardOf(page, hold.id);
  await card.getByRole("button", { name: "Approve once" }).click();
  await card.locator("[data-code=unreachable]").waitFor();
  await card.getByRole("button", { name: "Approve once" }).click();
  await card.locator("[data-settled=approved]").waitFor();
  assert.equal(keys.length, 2);
  assert.equal(keys[0], keys[1]);
  assert.equal((await world.hold(hold.id)).answers.length, 1);
});
