// What was typed and not sent is still there when the page is loaded again: a reason, a reply, a changed argument, a form, a comment, a
// message. It goes when it is sent, when the hold is decided, and at a logout; a secret is never kept.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { cardOf, open } from "./harness.mjs";

let world;
before(async () => {
  world = await open();
});
afterEach(() => world.closePages());
after(async () => {
  await world?.close();
});

const ask = (more) => world.openHold({ kind: "approve", title: "Restart", call: { tool: "restart_unit", arguments: { unit: "web-1", times: 2 } }, ...more });

async function show(page, hold) {
  await page.goto(world.url(`/holds/${hold.id}`));
  return ready(page, hold);
}

async function ready(page, hold) {
  const card = cardOf(page, hold.id);
  await card.locator(".bar .primary:not(.settling)").first().waitFor();
  return card;
}

async function again(page, hold) {
  await page.reload();
  return ready(page, hold);
}

const kept = (page) => page.evaluate(() => Object.entries(sessionStorage).filter(([key]) => key.startsWith("holdpoint.draft")));

test("a reason, a reply and a comment survive a reload, and go with the decision", async () => {
  const page = await world.page();
  const [hold, other] = [await ask(), await ask()];
  let card = await show(page, hold);
  await card.getByRole("button", { name: "Deny…" }).click();
  await card.locator("textarea[name=reason]").fill("not during the freeze");
  await card.getByRole("button", { name: "Back" }).click();
  await card.locator(".bar-more").click();
  await card.getByRole("button", { name: "Reply instead…" }).click();
  await card.locator(".bar textarea").fill("the unit is gone");
  await page.locator(".comment-open").click();
  await page.locator(".comment-box textarea").fill("who knows web-1?");

  card = await again(page, hold);
  assert.equal(await page.locator(".comment-box textarea").inputValue(), "who knows web-1?", "an open box, with what was typed");
  assert.match((await page.evaluate(() => document.activeElement?.className)) ?? "", /hold-title/, "a draft takes no focus");
  await card.locator(".bar-more").click();
  await card.getByRole("button", { name: "Reply instead…" }).click();
  assert.equal(await card.locator(".bar textarea").inputValue(), "the unit is gone");
  await card.getByRole("button", { name: "Back" }).click();

  // Another hold has none of it.
  await show(page, other);
  await cardOf(page, other.id).getByRole("button", { name: "Deny…" }).click();
  assert.equal(await cardOf(page, other.id).locator("textarea[name=reason]").inputValue(), "");

  card = await show(page, hold);
  await card.getByRole("button", { name: "Deny…" }).click();
  assert.equal(await card.locator("textarea[name=reason]").inputValue(), "not during the freeze");
  await card.locator(".panel").getByRole("button", { name: "Deny", exact: true }).click();
  await page.locator(`[data-hold="${hold.id}"][data-state=denied]`).waitFor();
  assert.equal((await world.hold(hold.id)).decision.reason, "not during the freeze");
  // What one wanted to say to the others can still be said.
  assert.deepEqual((await kept(page)).map(([, text]) => text), ["who knows web-1?"]);
  await page.locator(".comment-box").getByRole("button", { name: "Comment" }).click();
  await page.locator(".comment", { hasText: "who knows web-1?" }).waitFor();
  assert.deepEqual(await kept(page), []);
});

test("a changed argument survives a reload, is looked at anew, and goes when it is discarded or the hold is decided elsewhere", async () => {
  const page = await world.page();
  const hold = await ask();
  let card = await show(page, hold);
  const edit = async () => {
    await card.getByRole("button", { name: "Edit…" }).click();
    const field = card.locator('[data-argument="unit"] :is(input, textarea)');
    await field.waitFor();
    return field;
  };
  await (await edit()).fill("web-2");
  await page.waitForFunction(() => Object.values(sessionStorage).some((text) => text.includes("web-2")));
  card = await again(page, hold);
  assert.equal(await (await edit()).inputValue(), "web-2");
  // What it would do is asked of the server before it can be approved.
  await card.locator("[data-look=done], [data-look=missing]").waitFor();
  await card.getByRole("button", { name: "Discard" }).click();
  assert.deepEqual(await kept(page), []);
  assert.equal(await (await edit()).inputValue(), "web-1");

  // JSON that is not finished is kept as it is.
  await card.locator(".edit-head label", { hasText: "JSON" }).click();
  await card.locator("textarea[name=arguments]").fill('{"unit": "web-3"');
  await page.waitForFunction(() => Object.values(sessionStorage).some((text) => text.includes("web-3")));
  card = await again(page, hold);
  await card.getByRole("button", { name: "Edit…" }).click();
  assert.equal(await card.locator("textarea[name=arguments]").inputValue(), '{"unit": "web-3"');

  await world.api("POST", `/v1/holds/${hold.id}/answer`, { digest: hold.digest, answer: { verdict: "deny" } });
  await page.locator(`[data-hold="${hold.id}"][data-state=denied]`).waitFor();
  assert.deepEqual(await kept(page), []);
});

test("a form survives a reload, but for its secrets, and nothing of it is left after a logout", async () => {
  const page = await world.page();
  const schema = {
    type: "object",
    required: ["where", "password"],
    properties: {
      where: { type: "string" },
      days: { type: "array", items: { enum: ["Monday", "Tuesday"] } },
      password: { type: "string", writeOnly: true },
      account: { type: "object", properties: { user: { type: "string" }, key: { type: "string", writeOnly: true } } },
    },
  };
  const hold = await world.openHold({ kind: "fill", title: "Where to?", schema });
  let card = await show(page, hold);
  await card.locator('[data-path="where"] input').fill("Berlin");
  await card.locator('[data-path="days"] input').nth(1).check();
  await card.locator('[data-path="password"] input').fill("hunter2");
  await card.locator('[data-path="account/user"] input').fill("ana");
  await card.locator('[data-path="account/key"] input').fill("s3cret");
  card = await again(page, hold);
  assert.equal(await card.locator('[data-path="where"] input').inputValue(), "Berlin");
  assert.deepEqual(await card.locator('[data-path="days"] input').evaluateAll((all) => all.map((one) => one.checked)), [false, true]);
  assert.equal(await card.locator('[data-path="password"] input').inputValue(), "");
  assert.equal(await card.locator('[data-path="account/key"] input').inputValue(), "");
  const all = await page.evaluate(() => JSON.stringify([sessionStorage, localStorage]));
  assert.ok(!all.includes("hunter2") && !all.includes("s3cret"), all);
  assert.ok(all.includes("Berlin"));

  // The server does not hear of it: the other tests use the same login.
  await page.route("**/logout", (route) => route.fulfill({ status: 204 }));
  await page.getByRole("button", { name: "Log out" }).first().click();
  await page.locator("main.login").waitFor();
  assert.deepEqual(await kept(page), []);
});

test("what was typed goes when the hold was decided while the page was closed", async () => {
  const page = await world.page();
  const hold = await ask();
  const card = await show(page, hold);
  await card.getByRole("button", { name: "Deny…" }).click();
  await card.locator("textarea[name=reason]").fill("not during the freeze");
  assert.equal((await kept(page)).length, 1);
  await page.goto("about:blank");
  await world.api("POST", `/v1/holds/${hold.id}/answer`, { digest: hold.digest, answer: { verdict: "deny" } });
  await page.goto(world.url("/sessions"));
  await page.waitForFunction(() => !Object.keys(sessionStorage).some((key) => key.startsWith("holdpoint.draft")));
});

const SECRETS = {
  "under any name": [{ type: "object", additionalProperties: { writeOnly: true } }, "textarea[name=text]", '{"pin": "hunter2"}'],
  "behind a reference": [{ type: "object", properties: { users: { type: "array", items: { $ref: "#/$defs/user" } } }, $defs: { user: { type: "object", properties: { pin: { type: "string", writeOnly: true } } } } }, '[data-path="users"] textarea', '[{"pin": "hunter2"}]'],
  "by another keyword": [{ type: "object", properties: { token: { type: "string" } }, anyOf: [{ properties: { token: { writeOnly: true } } }] }, '[data-path="token"] :is(input, textarea)', "hunter2"],
};
for (const [where, [schema, field, text]] of Object.entries(SECRETS)) {
  test(`nothing is kept of a form whose schema names its secrets ${where}`, async () => {
    const page = await world.page();
    const card = await show(page, await world.openHold({ kind: "fill", title: "Who?", schema }));
    await card.locator(field).fill(text);
    assert.equal(await card.locator(field).inputValue(), text);
    assert.deepEqual(await kept(page), []);
  });
}

test("nothing is kept of a changed argument when the server did not say which are secret", async () => {
  const page = await world.page();
  await page.route("**/v1/holds/*/tool", (route) => route.abort());
  const card = await show(page, await ask());
  await card.getByRole("button", { name: "Edit…" }).click();
  await card.locator('[data-argument="unit"] :is(input, textarea)').fill("web-2");
  await card.locator("[data-look=done], [data-look=missing]").waitFor();
  assert.deepEqual(await kept(page), []);
});

test("a file that was attached to a form is not sent by the form that was loaded again", async () => {
  const page = await world.page();
  const file = { type: "string", format: "file" };
  const schema = { type: "object", properties: { where: { type: "string" }, receipt: file, more: { type: "object", properties: { photo: file } } } };
  const hold = await world.openHold({ kind: "fill", title: "Receipts?", schema });
  let card = await show(page, hold);
  for (const [at, path] of ["receipt", "more/photo"].entries()) {
    await card.locator(`[data-path="${path}"] input[type=file]`).setInputFiles([{ name: `${at}.txt`, mimeType: "text/plain", buffer: Buffer.from("12.00") }]);
    await card.locator(`[data-path="${path}"] [data-chosen]`).waitFor();
  }
  await card.locator('[data-path="where"] input').fill("Berlin");
  card = await again(page, hold);
  assert.equal(await card.locator('[data-path="where"] input').inputValue(), "Berlin");
  assert.equal(await card.locator("[data-chosen]").count(), 0);
  await card.locator(".bar .primary").first().click();
  await page.locator(`[data-hold="${hold.id}"][data-state=answered]`).waitFor();
  assert.deepEqual((await world.hold(hold.id)).decision.fill, { where: "Berlin" });
});

test("a message that was not sent is still in its session's box after a reload, and in no other", async () => {
  const page = await world.page();
  await world.scenario(page, "approve");
  const say = page.locator(".chat textarea[name=say]");
  await say.fill("and the invoices?");
  await page.reload();
  await say.waitFor();
  assert.equal(await say.inputValue(), "and the invoices?");
  const session = page.url();
  await page.goto(world.url("/sessions"));
  await page.locator(".new-session textarea[name=say]").waitFor();
  assert.equal(await page.locator(".new-session textarea[name=say]").inputValue(), "");
  await page.goto(session);
  await page.locator(".composer button[type=submit]").click();
  await page.locator(".queued", { hasText: "and the invoices?" }).or(page.locator("[data-message]", { hasText: "and the invoices?" })).first().waitFor();
  assert.equal(await say.inputValue(), "");
  assert.deepEqual(await kept(page), []);
});
