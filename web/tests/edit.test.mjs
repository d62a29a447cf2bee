// An edit is looked at before it is approved: a form, the difference, and what the changed call would do, measured anew.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertAccessible } from "./axe.mjs";
import { asPage, holdFor, openEveryTool } from "./every_tool.mjs";

let world;
before(async () => {
  world = await openEveryTool();
});
after(async () => {
  await world?.close();
});

test("an edited call shows its difference and a fresh measure, and only then can it be approved", async () => {
  const { page } = world;
  page.setDefaultTimeout(15_000);
  const hold = await holdFor(world, "delete rows");
  await page.goto(world.url(`/holds/${hold.id}`));
  const card = page.locator(`article[data-hold="${hold.id}"]`);
  await card.getByRole("button", { name: "Edit…" }).click();
  const sql = card.locator("[data-argument=sql] textarea");
  await sql.fill("DELETE FROM orders\nWHERE status = 1 AND id < 38");
  const approving = card.locator("[data-approve]");
  assert.ok(await approving.isDisabled(), "not before it was looked at");
  await card.locator("[data-look=done]").waitFor();
  assert.equal(await card.locator("h1").innerText(), "Delete 214 → 37 rows");
  assert.match(await card.locator("[data-look]").innerText(), /Delete 37 rows\s+\(was: delete 214 rows\)/);
  assert.match(await card.locator("[data-edit] .fx-removed").innerText(), /total_cents < 20000/);
  assert.match(await card.locator("[data-edit] .fx-added").innerText(), /id < 38/);
  assert.match(await approving.innerText(), /Approve my version: delete 37 rows/);
  // Another change must be looked at again.
  await sql.fill("DELETE FROM nowhere");
  await card.locator("[data-look=refused]").waitFor();
  assert.ok(await approving.isDisabled(), "what the tool refuses cannot be approved");
  await sql.fill("DELETE FROM orders\nWHERE status = 1 AND id < 38");
  await card.locator("[data-look=done]").waitFor();
  await approving.click();
  await card.locator("[data-outcome=succeeded]").waitFor();
  const now = await asPage(page, "GET", `/v1/holds/${hold.id}`);
  assert.equal(now.state, "approved");
  assert.match(JSON.stringify(now.outcome), /37/);
});

test("what became of calls like it is told with squares and the last reason", async () => {
  const { page } = world;
  for (const verdict of ["approve", "deny"]) {
    const earlier = await holdFor(world, "send a message");
    const answer = verdict === "approve" ? { verdict, scope: "once" } : { verdict, reason: "not during the freeze" };
    await asPage(page, "POST", `/v1/holds/${earlier.id}/answer`, { digest: earlier.digest, answer });
  }
  const hold = await holdFor(world, "send a message");
  await page.goto(world.url(`/holds/${hold.id}`));
  const fact = page.locator("[data-fact='card.before']");
  await fact.locator(".past").waitFor();
  assert.match(await fact.innerText(), /2 this week[\s\S]+1 approved, 1 denied[\s\S]+denied by Ana Ruiz:[\s\S]+not during the freeze/);
  assert.equal(await fact.locator(".past-denied").count(), 1);
  assert.equal(await fact.locator(".past-approved").count(), 1);
});

test("the form follows the tool's schema: what it takes besides can be added, and what it does not need left out", async () => {
  const { page } = world;
  const hold = await holdFor(world, "restart it");
  await page.goto(world.url(`/holds/${hold.id}`));
  const card = page.locator(`article[data-hold="${hold.id}"]`);
  await card.getByRole("button", { name: "Edit…" }).click();
  const edit = card.locator("[data-edit]");
  // The tool takes one of three ways, which the agent left out.
  await edit.locator("[data-add-argument=how]").click();
  const how = edit.locator("[data-argument=how]");
  assert.match(await how.innerText(), /How it is restarted/);
  assert.equal(await how.getByRole("radio").count(), 3);
  assert.equal(await how.locator("input:checked").count(), 0, "nothing is preselected");
  await how.getByRole("radio", { name: "gently" }).check();
  assert.equal(await edit.locator("[data-argument=unit]").getByRole("button", { name: /Leave out/ }).count(), 0, "the tool needs it");
  await edit.locator("[data-argument=wait_s]").getByRole("button", { name: "Leave out wait_s" }).click();
  await edit.locator(".fx-removed", { hasText: "5" }).waitFor();
  await assertAccessible(page, "editing by schema");
  await card.locator("[data-look=done]").waitFor();
  const request = page.waitForRequest(`**/v1/holds/${hold.id}/answer`);
  await card.locator("[data-approve]:not([disabled])").click();
  assert.deepEqual((await request).postDataJSON().answer.arguments, { unit: "web", how: "gently" });
  await card.locator("[data-settled=approved]").waitFor();
});
