// What admins do, on a server of its own with a channel, several people and rules that changed since: on a desk in English and light,
// and on a phone in Chinese and dark. Each list has something in it when it is asked for the rules of WCAG.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { assertAccessible } from "./axe.mjs";
import { asPage } from "./every_tool.mjs";
import { stopped, until } from "./harness.mjs";
import { OwnServer, PHONE } from "./own_server.mjs";
import { FakeTelegram } from "./telegram.mjs";

const KINDS = {
  "a desk, in English, light": { viewport: { width: 1280, height: 900 }, locale: "en-US", colorScheme: "light" },
  "a phone, in Chinese, dark": { ...PHONE, locale: "zh-CN", colorScheme: "dark" },
};
const CONFIG = (telegram) => `
[[agents]]
id = "ops"
model = "script"
instructions = "Work."
tools = ["pay"]
[[tools]]
name = "pay"
description = "Pays."
kind = "command"
argv = ["true"]
input_schema = { type = "object", properties = { what = { type = "string" } } }
[[people]]
id = "ana"
name = "Ana"
roles = ["admin"]
identities = { telegram = "111" }
[[people]]
id = "ben"
name = "Ben"
roles = ["dba"]
[channels.telegram]
token_file = "telegram-token"
base_url = "${telegram.url}"
`;
const ASKS = `
[policy]
default = "ask"
[[policy.rules]]
name = "money is looked at"
then = "ask"
match = { tool = "pay" }
`;
const DENIES = `
[policy]
default = "ask"
[[policy.rules]]
name = "no money leaves the house"
then = "deny"
match = { tool = "pay" }
`;
const SCRIPT = `
[[turn]]
when = { says = "Pay." }
text = "I will pay."
calls = [{ tool = "pay", arguments = { what = "rent" } }]
[[turn]]
when = { says = "Pay.", result_of = "pay" }
text = "Paid."
`;
const BLOCKED = "Forbidden: bot was blocked by the user";

let own, telegram, told;
const grants = [];
before(async () => {
  telegram = await FakeTelegram.start();
  telegram.refusal = BLOCKED;
  own = await OwnServer.start(CONFIG(telegram) + ASKS, SCRIPT, { "telegram-token": "1:secret" });
  const page = await own.page("ana");
  await page.goto(own.url("/"));
  for (let at = 0; at < 3; at++) {
    const hold = await own.holdOf(page, await own.say(page, "ops", "Pay."));
    if (at === 2) {
      told = hold;
      break;
    }
    await asPage(page, "POST", `/v1/holds/${hold.id}/answer`, { digest: hold.digest, answer: { verdict: "approve", scope: "session" } });
    grants.push((await asPage(page, "GET", "/v1/grants")).items.find((one) => one.hold === hold.id));
  }
  await until("an error of the channel", async () => (await asPage(page, "GET", "/v1/channels")).items[0].last_errors.some((one) => one.hold === told.id));
  // Other rules from here on: what would have happened is asked of the calls so far.
  await own.closePages();
  await stopped(own.server);
  await own.configure(CONFIG(telegram) + DENIES);
  own.serveAgain();
  await until("the server to be back", () => fetch(own.url("/healthz")).then((reply) => reply.ok, () => false));
});
afterEach(() => own.closePages());
after(async () => {
  await own?.close();
  telegram?.close();
});

async function openAdmin(tab, options) {
  const page = await own.page("ana", options);
  page.troubles = [];
  page.on("pageerror", (error) => page.troubles.push(String(error)));
  await page.goto(own.url(`/admin/${tab}`));
  await page.locator(".admin-head h1").waitFor();
  return page;
}

async function assertFits(page, where) {
  await assertAccessible(page, where);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, `${where}: ${wide} px too wide`);
  assert.deepEqual(page.troubles, [], where);
}

for (const [where, options] of Object.entries(KINDS)) {
  const chinese = options.locale === "zh-CN";

  test(`a channel tells its last error, and a test of it is sent: on ${where}`, async () => {
    const page = await openAdmin("channels", options);
    const channel = page.locator('[data-channel="telegram"]');
    await channel.getByText(BLOCKED).first().waitFor();
    assert.match(await channel.innerText(), /Ana/, "the person who could not be asked");
    await channel.locator(`a[href="/holds/${told.id}"]`).first().waitFor();
    await assertFits(page, "a channel with errors");
    // It cannot be sent: the page says so, in the platform's own words.
    const button = channel.locator("button");
    telegram.refusal = BLOCKED;
    await button.click();
    await channel.locator(".refusal", { hasText: BLOCKED }).waitFor();
    await assertFits(page, "a test that could not be sent");
    // The person has unblocked it, and now it arrives.
    telegram.refusal = null;
    const before = telegram.sent.length;
    await button.click();
    await channel.getByRole("status").filter({ hasText: chinese ? "已发送" : "Sent" }).waitFor();
    assert.equal(await channel.locator(".refusal").count(), 0, "what went wrong before is over");
    const arrived = telegram.sent.slice(before).filter((one) => one.chat_id === "111");
    assert.equal(arrived.length, 1);
    assert.match(arrived[0].text, /test/i);
    await assertFits(page, "a test that was sent");
    // And a second one that fails takes the good word back.
    telegram.refusal = BLOCKED;
    await button.click();
    await channel.locator(".refusal").waitFor();
    assert.equal(await channel.getByRole("status").filter({ hasText: chinese ? "已发送" : "Sent" }).count(), 0);
    assert.equal(telegram.sent.slice(before).filter((one) => one.chat_id === "111").length, 1);
  });

  test(`a grant is looked into and revoked: on ${where}`, async () => {
    const page = await openAdmin("grants", options);
    const grant = grants[chinese ? 1 : 0];
    const row = page.locator(`[data-grant="${grant.id}"]`);
    await row.waitFor();
    await assertFits(page, "a list of grants");
    await row.locator("button.link").click();
    await row.locator("[data-testid=matches] a").first().waitFor();
    await assertFits(page, "what a grant would have covered");
    await row.locator(".table-end button").click();
    await page.locator(`[data-grant="${grant.id}"][data-revoked=true]`).waitFor();
    assert.equal((await asPage(page, "GET", "/v1/grants")).items.find((one) => one.id === grant.id).revoked, true);
    await assertFits(page, "a grant that was revoked");
  });

  test(`a token is made and revoked, and a person gets a link: on ${where}`, async () => {
    const page = await openAdmin("tokens", options);
    const program = chinese ? "发布机器人" : "deploy-bot";
    await page.locator(".admin-panel header button.primary").click();
    const sheet = page.locator("[data-sheet=token]");
    await sheet.locator("input[name=program]").fill(program);
    await sheet.locator("footer button.primary").click();
    const secret = (await sheet.locator(".fx-lines").innerText()).trim();
    await assertFits(page, "a token that is shown once");
    const withIt = () => fetch(own.url("/v1/me"), { headers: { Authorization: `Bearer ${secret}` } });
    assert.equal((await withIt()).status, 200);
    await sheet.locator("footer button").click();
    const row = page.locator("[data-token]", { hasText: program });
    await row.waitFor();
    await assertFits(page, "a list of tokens");
    await row.locator("button").click();
    assert.equal((await withIt()).status, 200, "one press revokes nothing");
    await row.locator("button.danger-solid").click();
    await row.waitFor({ state: "detached" });
    assert.equal((await withIt()).status, 401);

    await page.locator(".admin-panel header button:not(.primary)").first().click();
    const login = page.locator("[data-sheet=login]");
    await login.locator("input[name=person]").fill("ben");
    await login.locator("footer button.primary").click();
    const link = (await login.locator(".fx-lines").innerText()).trim();
    await assertFits(page, "a link for a person");
    const other = await own.page("ben", options);
    await other.goto(link);
    await other.click("button");
    await other.locator(".shell").waitFor();
    assert.equal((await asPage(other, "GET", "/v1/me")).id, "ben");
  });

  test(`all is frozen with a reason, and thawed: on ${where}`, async () => {
    const page = await openAdmin("people", options);
    await page.locator("[data-person=ben]").waitFor();
    assert.match(await page.locator("[data-person=ana]").innerText(), /telegram/, "the account by which a chat knows her");
    await assertFits(page, "a list of people");
    await page.locator(".admin-head button").click();
    const sheet = page.locator("[data-sheet=freeze]");
    await sheet.locator("button.danger-solid").click();
    await sheet.locator(".field-error").waitFor();
    assert.equal((await asPage(page, "GET", "/v1/freeze")).frozen, false, "not without a reason");
    await sheet.locator("textarea[name=reason]").fill("发布之夜 — release night");
    await sheet.locator("button.danger-solid").click();
    await page.locator(".banner-frozen", { hasText: "发布之夜 — release night" }).waitFor();
    assert.deepEqual([(await asPage(page, "GET", "/v1/freeze")).frozen, (await asPage(page, "GET", "/v1/freeze")).by], [true, "ana"]);
    await assertFits(page, "frozen");
    await page.locator(".banner-frozen button").click();
    await page.locator("[data-sheet=thaw] button.primary").click();
    await page.locator(".banner-frozen").waitFor({ state: "detached" });
    assert.equal((await asPage(page, "GET", "/v1/freeze")).frozen, false);
  });

  test(`the rules explain themselves, and tell what they would have done: on ${where}`, async () => {
    const page = await openAdmin("policy", options);
    await page.locator("input[name=tool]").fill("pay");
    await page.locator("textarea[name=arguments]").fill('{"what":"rent"}');
    await page.locator(".policy-form button.primary").click();
    const explained = page.locator("[data-testid=explained]");
    await explained.waitFor();
    assert.equal(await explained.getAttribute("data-decision"), "deny");
    assert.match(await explained.innerText(), /no money leaves the house/);
    await assertFits(page, "an explanation");
    await page.locator(".admin-panel header button").click();
    const change = page.locator("[data-change=ask-deny]");
    await change.waitFor();
    assert.match(await change.innerText(), /pay[\s\S]*no money leaves the house[\s\S]*3/, "all three calls of before");
    await assertFits(page, "what the rules would have done");
  });

  test(`the log is searched and verified, and figures are told: on ${where}`, async () => {
    const page = await openAdmin("audit", options);
    await page.locator("[data-seq]").first().waitFor();
    await page.locator("input[name=q]").fill(told.id);
    await page.locator(".audit-from button[type=submit]").click();
    const { items } = await asPage(page, "GET", `/v1/audit?q=${told.id}`);
    assert.ok(items.length > 0);
    await page.waitForFunction((count) => document.querySelectorAll("[data-seq]").length === count, items.length);
    await page.locator("[data-seq] summary").first().click();
    await page.locator(".audit-from button:not([type=submit])").click();
    await page.locator("[data-testid=verified] .pill-ok").waitFor();
    await assertFits(page, "a log that was verified");
    await page.goto(own.url("/admin/figures"));
    await page.locator("[data-testid=figures]").waitFor();
    await page.locator(".admin-panel [data-person=ana]").waitFor();
    await assertFits(page, "figures of people and tools");
    await page.goto(own.url("/admin/agents"));
    await page.locator("[data-tool=pay]").waitFor();
    await assertFits(page, "agents and their tools");
  });
}
