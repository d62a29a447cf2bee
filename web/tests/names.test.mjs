// An admin reads names of people where the records have ids: on the card, in the list, among comments, in the history and in the audit
// log. An id stands beside the name where two could be taken for one another.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { asPage } from "./every_tool.mjs";
import { cardOf, until } from "./harness.mjs";
import { OwnServer } from "./own_server.mjs";
import { FakeTelegram } from "./telegram.mjs";

const CONFIG = (telegram) => `
[[agents]]
id = "ops"
model = "script"
instructions = "Help."
tools = ["restart"]
[[tools]]
name = "restart"
kind = "command"
description = "Restarts a unit."
argv = ["cat"]
input_schema = { type = "object", properties = { unit = { type = "string" } } }
[policy]
[[policy.rules]]
name = "names in doubt"
then = "ask"
match = { tool = "doubt" }
ask = { people = ["d1", "d2", "d3", "d4", "bb7"] }
[[policy.rules]]
name = "two decide"
then = "ask"
match = { tool = "restart" }
ask = { roles = ["dba"], people = ["ana", "k2"], quorum = 2 }
[[people]]
id = "ana"
name = "Ana Alba"
roles = ["admin"]
[[people]]
id = "bb7"
name = "Ben Berg"
roles = ["dba"]
identities = { telegram = "222" }
[[people]]
id = "k1"
name = "Kim"
roles = ["dba"]
identities = { telegram = "111" }
[[people]]
id = "k2"
name = "Kim"
roles = ["dba"]
[[people]]
id = "d1"
name = "Kim (K2)"
[[people]]
id = "d2"
name = "Ｙou"
[[people]]
id = "d3"
name = "HOLDPOINT"
[[people]]
id = "d4"
name = "BB7"
[channels.telegram]
token_file = "telegram-token"
base_url = "${telegram.url}"
agent = "ops"
`;
const SCRIPT = `
[[turn]]
when = { says = "hello" }
text = "Good morning."
[[turn]]
when = { says = "Restart web." }
calls = [{ tool = "restart", arguments = { unit = "web" } }]
`;

let world, telegram;
before(async () => {
  telegram = await FakeTelegram.start();
  world = await OwnServer.start(CONFIG(telegram), SCRIPT, { "telegram-token": "1:secret" });
});
after(async () => {
  await world?.close();
  telegram?.close();
});

test("names stand where the records have ids, and an id where a name could be another's", async () => {
  const ana = await world.page("ana");
  await ana.goto(world.url("/"));
  await ana.locator(".shell").waitFor();
  for (const person of ["bb7", "k1"]) await world.logIn(person, world.url((await asPage(ana, "POST", "/v1/logins", { person })).url.replace(/^https?:\/\/[^/]+/, "")));
  const ben = await world.page("bb7");
  const kim = await world.page("k1");
  for (const page of [ben, kim]) {
    await page.goto(world.url("/"));
    await page.locator(".shell").waitFor();
  }
  const hold = (title) => asPage(ben, "POST", "/v1/holds", { kind: "approve", title, call: { tool: "restart", arguments: { title } } });
  const first = await hold("one");
  await asPage(kim, "POST", `/v1/holds/${first.id}/comments`, { text: "is it staging?" });
  await asPage(ben, "POST", `/v1/holds/${first.id}/claim`);
  await asPage(kim, "POST", `/v1/holds/${first.id}/answer`, { digest: first.digest, answer: { verdict: "approve", scope: "once" } });

  await ana.goto(world.url(`/holds/${first.id}`));
  const card = cardOf(ana, first.id);
  await card.locator(".comment").waitFor();
  const text = async (what) => (await card.locator(what).innerText()).replace(/\s+/g, " ");
  await card.locator("[data-fact='hold.asked_by']", { hasText: "Ben Berg" }).waitFor();
  assert.match(await text("[data-claimed]"), /Ben Berg/);
  assert.match(await text("[data-quorum]"), /Kim \(k1\)/);
  assert.match(await text(".about-hold"), /Ana Alba, Kim \(k2\)/);
  assert.match(await text(".comment-by"), /Kim \(k1\) @k1/, "and how one addresses them");
  const row = ana.locator("li.row", { has: ana.locator(`[data-item="${first.id}"]`) });
  assert.match(await row.innerText(), /Ben Berg/);

  // Who may not read the list of people reads ids, as the server sends them.
  await kim.goto(world.url(`/holds/${first.id}`));
  await cardOf(kim, first.id).locator("[data-fact='hold.asked_by']", { hasText: "bb7" }).waitFor();

  await asPage(ben, "POST", `/v1/holds/${first.id}/answer`, { digest: first.digest, answer: { verdict: "deny", reason: "no" } });
  await ana.goto(world.url("/history"));
  await ana.locator(`[data-item="${first.id}"]`, { hasText: "Denied by Ben Berg" }).waitFor();
  await ana.goto(world.url("/admin/audit"));
  const entry = ana.locator(".audit summary", { hasText: "hold decided" }).first();
  await entry.waitFor();
  assert.match((await entry.innerText()).replace(/\s+/g, " "), /Ben Berg bb7/);
});

test("who was asked about a call reads its session, and is not named as the one who began it", async () => {
  const [ben, kim, ana] = [await world.page("bb7"), await world.page("k1"), await world.page("ana")];
  await ben.goto(world.url("/"));
  const session = await world.say(ben, "ops", "Restart web.");
  await world.holdOf(ben, session);
  for (const [page, name] of [[ben, "You"], [kim, "bb7"], [ana, "bb7"]]) {
    await page.goto(world.url(`/sessions/${session}`));
    await page.locator(".chat [data-hold][data-state=pending]").waitFor();
    await page.locator("[data-author=user] .message-head strong", { hasText: name }).waitFor();
  }
});

test("a name that reads like another one, or like a word of the page, has its id beside it", async () => {
  const ana = await world.page("ana");
  await ana.goto(world.url("/"));
  const hold = await asPage(ana, "POST", "/v1/holds", { kind: "approve", title: "names", call: { tool: "doubt", arguments: {} } });
  await ana.goto(world.url(`/holds/${hold.id}`));
  await cardOf(ana, hold.id).locator(".about-hold", { hasText: "Ben Berg" }).waitFor();
  const who = await cardOf(ana, hold.id).locator(".about-hold p").first().innerText();
  for (const label of ["Kim (K2) (d1)", "Ｙou (d2)", "HOLDPOINT (d3)", "BB7 (d4)", "Ben Berg"]) assert.ok(who.includes(label), `${label} in ${who}`);
});

test("a program with the id of a person as its name is not told by that person's name", async () => {
  const ana = await world.page("ana");
  await ana.goto(world.url("/"));
  const { token } = await asPage(ana, "POST", "/v1/tokens", { program: "bb7", scopes: ["ask"] });
  const asks = async (path, body) => (await fetch(world.url(path), { method: "POST", headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" }, body: JSON.stringify(body) })).json();
  const hold = await asks("/v1/holds", { kind: "approve", title: "withdrawn", call: { tool: "restart", arguments: {} } });
  await asks(`/v1/holds/${hold.id}/cancel`, { reason: "no longer needed" });
  await ana.goto(world.url(`/holds/${hold.id}`));
  await cardOf(ana, hold.id).locator(".about-hold", { hasText: "Ana Alba" }).waitFor();
  await cardOf(ana, hold.id).getByText(/Cancelled by bb7, /).first().waitFor();
  await ana.goto(world.url("/admin/tokens"));
  await ana.locator("[data-token]", { hasText: /bb7[^]*ana, / }).first().waitFor();
});

test("a tab in which another person is logged in now has neither the names nor the drafts of the one before", async () => {
  const ana = await world.page("ana");
  await ana.goto(world.url("/"));
  const link = async (person) => world.url((await asPage(ana, "POST", "/v1/logins", { person })).url.replace(/^https?:\/\/[^/]+/, ""));
  // A login of its own, since it ends here.
  await world.logIn("ana once more", await link("ana"));
  const hold = await asPage(ana, "POST", "/v1/holds", { kind: "approve", title: "two", call: { tool: "restart", arguments: {} } });
  const tab = await world.page("ana once more");
  await tab.goto(world.url(`/holds/${hold.id}`));
  const card = cardOf(tab, hold.id);
  await card.locator(".about-hold", { hasText: "Kim (k2)" }).waitFor();
  await card.getByRole("button", { name: "Deny…" }).click();
  await card.locator("textarea[name=reason]").fill("ask Kim first");
  const other = await tab.context().newPage();
  await other.goto(world.url("/"));
  await other.getByRole("button", { name: "Log out" }).first().click();
  // The stream finds out when it begins anew.
  await tab.evaluate(() => dispatchEvent(new Event("online")));
  await tab.locator("main.login").waitFor();
  await other.goto(await link("k2"));
  await other.click("button");
  await card.locator(".about-hold", { hasText: /ana, Kim,/ }).waitFor();
  assert.deepEqual(await tab.evaluate(() => Object.keys(sessionStorage).filter((key) => key.startsWith("holdpoint.draft"))), []);
});

/** Under whose name each message of people stands. */
async function authors(page, session, count) {
  await page.goto(world.url(`/sessions/${session}`));
  const names = page.locator("[data-author=user] .message-head strong");
  await names.nth(count - 1).waitFor();
  return names.allInnerTexts();
}

test("an admin who reads a session in which nothing was asked is not named as the one who speaks in it", async () => {
  const [ben, ana] = [await world.page("bb7"), await world.page("ana")];
  await ben.goto(world.url("/"));
  const session = await world.say(ben, "ops", "hello");
  assert.deepEqual(await authors(ana, session, 1), ["bb7"]);
  assert.deepEqual(await authors(ben, session, 1), ["You"]);
});

test("in a chat each message stands under the name of its speaker", async () => {
  const ana = await world.page("ana");
  await ana.goto(world.url("/"));
  telegram.says("111", "hello from Kim");
  const session = await until("the session of the chat", async () => (await asPage(ana, "GET", "/v1/sessions")).items.find((one) => one.creator === "telegram"));
  telegram.says("222", "hello from Ben");
  assert.deepEqual(await authors(ana, session.id, 2), ["Kim (k1)", "Ben Berg"]);
});
