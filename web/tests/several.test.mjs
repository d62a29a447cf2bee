// One record, several surfaces: two browsers and a terminal on one hold, a quorum of two people, a server that is killed under an
// open page, and how soon a decision is seen elsewhere.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { after, afterEach, before, test } from "node:test";
import { asPage } from "./every_tool.mjs";
import { OwnServer, PHONE } from "./own_server.mjs";

const CONFIG = `
[[agents]]
id = "ops"
model = "script"
instructions = "Help."
tools = ["restart", "transfer"]
[[tools]]
name = "restart"
kind = "command"
description = "Restarts a unit."
argv = ["cat"]
input_schema = { type = "object", properties = { unit = { type = "string" } } }
[[tools]]
name = "transfer"
kind = "command"
description = "Sends money."
argv = ["cat"]
input_schema = { type = "object", properties = { amount = { type = "string" } } }
[policy]
default = "ask"
[[policy.rules]]
name = "money needs two"
then = "ask"
match = { tool = "transfer" }
ask = { roles = ["treasurer"], quorum = 2 }
[[people]]
id = "ana"
name = "Ana"
roles = ["admin", "treasurer"]
[[people]]
id = "ben"
name = "Ben"
roles = ["treasurer"]
`;
const SCRIPT = `
[[turn]]
when = { says = "Restart web." }
calls = [{ tool = "restart", arguments = { unit = "web" } }]
[[turn]]
when = { says = "Restart web.", result_of = "restart" }
text = "I was told: {result}"
[[turn]]
when = { says = "Send money." }
calls = [{ tool = "transfer", arguments = { amount = "12.00" } }]
[[turn]]
when = { says = "Send money.", result_of = "transfer" }
text = "I was told: {result}"
`;

// A decision is seen elsewhere within this, for 95 of 100.
const SEEN_MS_P95 = 300;

let own;
before(async () => {
  own = await OwnServer.start(CONFIG, SCRIPT);
  const page = await own.page("ana");
  await page.goto(own.url("/"));
  const { url } = await asPage(page, "POST", "/v1/logins", { person: "ben" });
  await own.logIn("ben", url);
  const terminal = await cli("login", (await asPage(page, "POST", "/v1/logins", { person: "ana" })).url);
  assert.equal(terminal.code, 0, terminal.out);
  await own.closePages();
});
afterEach(async () => {
  // Identical calls would be one row.
  const page = await own.page("ana");
  await page.goto(own.url("/"));
  for (const hold of (await asPage(page, "GET", "/v1/holds?state=pending&limit=100")).items) await asPage(page, "POST", `/v1/holds/${hold.id}/answer`, { digest: hold.digest, answer: { verdict: "deny" } });
  await own.closePages();
});
after(() => own?.close());

/** The terminal of somebody with a home of their own. */
function cli(...args) {
  const child = spawn(process.env.HOLDPOINT_BIN, args, { env: { ...process.env, HOME: own.folder, XDG_CONFIG_HOME: `${own.folder}/config`, XDG_STATE_HOME: `${own.folder}/state`, HOLDPOINT_SERVER: own.url("") }, stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  child.stdout.on("data", (text) => (out += text));
  child.stderr.on("data", (text) => (out += text));
  return new Promise((done) => child.once("exit", (code) => done({ code, out })));
}

async function held(page, text) {
  if (page.url() === "about:blank") await page.goto(own.url("/"));
  return own.holdOf(page, await own.say(page, "ops", text));
}

async function openCard(page, hold) {
  await page.goto(own.url(`/holds/${hold.id}`));
  const card = page.locator(`article[data-hold="${hold.id}"]`);
  await card.locator("[data-approve]:not([disabled])").waitFor();
  return card;
}

test("two browsers and a terminal on one hold: whoever is first decides, and all of them say so", async () => {
  const desk = await own.page("ana");
  const phone = await own.page("ana", PHONE);
  const hold = await held(desk, "Restart web.");
  const onDesk = await openCard(desk, hold);
  const onPhone = await openCard(phone, hold);
  const listed = await cli("list");
  assert.ok(listed.out.includes(hold.tag), listed.out);
  const answered = await cli("approve", hold.tag, "--digest", hold.digest);
  assert.equal(answered.code, 0, answered.out);
  for (const card of [onDesk, onPhone]) {
    await card.locator("[data-settled=approved]").waitFor();
    assert.match(await card.innerText(), /Approved by Ana, \d\d:\d\d[\s\S]*Settled elsewhere while you looked/);
    assert.equal(await card.locator("[data-approve]").count(), 0);
  }
  assert.ok(!(await cli("list")).out.includes(hold.tag), "it is gone from the terminal's list, too");

  // And the other way round: decided on the phone, told on the desk and in the terminal.
  const second = await held(desk, "Restart web.");
  const there = await openCard(desk, second);
  await (await openCard(phone, second)).getByRole("button", { name: "Deny…" }).click();
  await phone.locator("textarea[name=reason]").fill("it runs well");
  await phone.locator(".panel button[type=submit]").click();
  await there.locator("[data-settled=denied]").waitFor();
  assert.match(await there.innerText(), /it runs well/);
  const late = await cli("approve", second.id, "--digest", second.digest);
  assert.notEqual(late.code, 0);
  assert.match(late.out, /denied/i);
});

test("all at once: exactly one decides, nobody else is told that they did", async () => {
  const [one, two] = [await own.page("ana"), await own.page("ana", PHONE)];
  const hold = await held(one, "Restart web.");
  const cards = [await openCard(one, hold), await openCard(two, hold)];
  await Promise.all([
    cards[0].locator("[data-approve]").click({ noWaitAfter: true }),
    cards[1].getByRole("button", { name: "Deny…" }).click().then(() => two.locator(".panel button[type=submit]").click({ timeout: 3000 })).catch(() => {}),
    cli("deny", hold.tag, "--reason", "no"),
  ]);
  const now = await asPage(one, "GET", `/v1/holds/${hold.id}`);
  assert.equal(now.answers.length, 1);
  for (const card of cards) {
    await card.locator(`[data-settled=${now.state}]`).waitFor();
    assert.equal(await card.locator("[data-settled]").count(), 1);
  }
});

test("a quorum of two: 1 of 2 in plain sight, each vote counted once, and it runs after the second", async () => {
  const [ana, ben] = [await own.page("ana"), await own.page("ben", PHONE)];
  const hold = await held(ana, "Send money.");
  const hers = await openCard(ana, hold);
  assert.equal(await hers.locator("[data-quorum]").getAttribute("data-quorum"), "0/2");
  assert.match(await hers.locator("[data-approve]").innerText(), /Approve, 1st of 2/);
  const his = await openCard(ben, hold);
  await hers.locator("[data-approve]").click();
  await hers.getByText("Your vote is counted. It waits for others.").waitFor();
  assert.equal(await hers.locator("[data-approve]").count(), 0, "nobody votes twice");
  // Who is asked and who has voted is there also for somebody who only waits.
  await hers.getByRole("region", { name: "About this hold" }).getByText("Waiting for one more").waitFor();
  assert.equal((await asPage(ana, "GET", `/v1/holds/${hold.id}`)).state, "pending");
  await his.locator('[data-quorum="1/2"]').waitFor();
  assert.match(await his.innerText(), /1 of 2 approvals\.[\s\S]*ana approved at \d\d:\d\d\.[\s\S]*Yours would be the last/);
  assert.match(await his.locator("[data-approve]").innerText(), /Approve, 2nd of 2/);
  await ana.goto(own.url("/"));
  await ana.locator(".row", { hasText: "1 of 2" }).waitFor();
  await his.locator("[data-approve]:not([disabled])").click();
  await his.locator("[data-settled=approved]").waitFor();
  await his.locator("[data-outcome=succeeded]").waitFor();
  assert.equal((await asPage(ben, "GET", `/v1/holds/${hold.id}`)).answers.length, 2);
});

test("a server that is killed under an open page: said at once, nothing is lost, and one decides as before when it is back", async () => {
  const [desk, phone] = [await own.page("ana"), await own.page("ana", PHONE)];
  const hold = await held(desk, "Restart web.");
  const card = await openCard(desk, hold);
  const small = await openCard(phone, hold);
  // In the middle of an answer.
  await card.getByRole("button", { name: "Deny…" }).click();
  await desk.locator("textarea[name=reason]").fill("half a sent");
  await own.kill();
  for (const page of [desk, phone]) {
    await page.locator(".banner-offline").waitFor();
    assert.match(await page.locator(".banner-offline").innerText(), /Not connected since \d\d:\d\d/);
  }
  assert.ok(await small.locator("[data-approve]").isDisabled());
  assert.ok(await desk.locator(".panel button[type=submit]").isDisabled());
  own.serveAgain();
  for (const page of [desk, phone]) await page.locator(".banner-offline").waitFor({ state: "detached" });
  assert.equal(await desk.locator("textarea[name=reason]").inputValue(), "half a sent", "what was typed is still there");
  await desk.locator("textarea[name=reason]").fill("half a sentence, and now all of it");
  await desk.locator(".panel button[type=submit]").click();
  for (const one of [card, small]) await one.locator("[data-settled=denied]").waitFor();
  assert.match(await small.innerText(), /half a sentence, and now all of it/);
});

test("a decision is seen elsewhere within 300 ms, for 95 of 100", async () => {
  const [here, there] = [await own.page("ana"), await own.page("ana", PHONE)];
  await here.goto(own.url("/"));
  await there.goto(own.url("/"));
  await there.locator("h1").first().waitFor();
  // The page itself says when a row left it: no clock of the test's own is in between.
  await there.evaluate(() => {
    window.left = {};
    new MutationObserver(() => {
      const rows = new Set([...document.querySelectorAll("[data-item]")].map((one) => one.dataset.item));
      for (const id of window.watched ?? []) if (!rows.has(id)) window.left[id] ??= Date.now();
    }).observe(document.body, { childList: true, subtree: true });
  });
  const p95s = [];
  // By the clock, so that other programs on the machine count as well, and these only add: the best of three rounds is the page's.
  while (p95s.length < 3 && !(Math.min(...p95s) <= SEEN_MS_P95)) p95s.push(await round(here, there));
  assert.ok(Math.min(...p95s) <= SEEN_MS_P95, `${p95s} ms`);
});

/** Twenty decisions in one browser, and how soon another one shows 95 % of them. */
async function round(here, there) {
  const took = [];
  for (let turn = 0; turn < 20; turn += 1) {
    const hold = await held(here, "Restart web.");
    await there.locator(`[data-item="${hold.id}"]`).waitFor();
    await there.evaluate((id) => (window.watched = [id]), hold.id);
    const at = await here.evaluate(
      async ([id, digest]) => {
        const me = await (await fetch("/v1/me")).json();
        const headers = { "X-Holdpoint-CSRF": me.csrf, "Idempotency-Key": crypto.randomUUID(), "Content-Type": "application/json" };
        const sent = Date.now();
        await fetch(`/v1/holds/${id}/answer`, { method: "POST", headers, body: JSON.stringify({ digest, answer: { verdict: "deny" } }) });
        return sent;
      },
      [hold.id, hold.digest],
    );
    took.push((await there.waitForFunction((id) => window.left[id], hold.id).then((left) => left.jsonValue())) - at);
  }
  took.sort((a, b) => a - b);
  const p95 = took[Math.ceil(took.length * 0.95) - 1];
  console.log(`seen elsewhere: half within ${took[took.length / 2]} ms, 95 % within ${p95} ms`);
  return p95;
}

test("from notice to decision on a phone: two actions for somebody who is logged in, and a login leads to the hold", async () => {
  const admin = await own.page("ana");
  const hold = await held(admin, "Restart web.");
  const phone = await own.page("ana", PHONE);
  const began = Date.now();
  // The first action is to open the notice.
  await phone.goto(own.url(`/holds/${hold.id}`));
  const approve = phone.locator("[data-approve]:not([disabled])");
  await approve.waitFor();
  const ready = Date.now() - began;
  const box = await approve.boundingBox();
  assert.ok(box.y + box.height <= PHONE.viewport.height, "it can be pressed without scrolling");
  // The second one decides.
  await approve.tap();
  await phone.locator("[data-settled=approved]").waitFor();
  console.log(`notice to decision, logged in: 2 actions, ready to decide after ${ready} ms, decided after ${Date.now() - began} ms`);

  // Somebody who is not logged in: open the notice, ask for a link (here an admin makes it), open it, log in, decide.
  const next = await held(admin, "Restart web.");
  const context = await own.browser.newContext({ locale: "en-US", ...PHONE });
  try {
    if (process.env.HOLDPOINT_DIST) await (await import("./harness.mjs")).serveFrom(process.env.HOLDPOINT_DIST, context);
    const stranger = await context.newPage();
    stranger.setDefaultTimeout(15_000);
    const start = Date.now();
    await stranger.goto(own.url(`/holds/${next.id}`));
    await stranger.getByRole("heading", { name: "Log in to decide" }).waitFor();
    assert.ok(!(await stranger.innerText("body")).includes(next.tag), "a stranger learns nothing of it");
    await stranger.goto((await asPage(admin, "POST", "/v1/logins", { person: "ana" })).url);
    await stranger.locator("button").tap();
    await stranger.waitForURL(`**/holds/${next.id}`);
    await stranger.locator("[data-approve]:not([disabled])").tap();
    await stranger.locator("[data-settled=approved]").waitFor();
    console.log(`notice to decision, logged out: 4 actions, ${Date.now() - start} ms`);
  } finally {
    await context.close();
  }
});
