// Every action on a card, from the button to what the server wrote down: on a desk in English and light, and on a phone in Chinese and
// dark. Controls are found by what they are and not by their words.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { assertAccessible } from "./axe.mjs";
import { cardOf, fillBySchema, open, until } from "./harness.mjs";
import { PHONE } from "./own_server.mjs";

let world;
before(async () => {
  world = await open();
});
afterEach(() => world.closePages());
after(async () => {
  await world?.close();
});

const KINDS = {
  "a desk, in English, light": { viewport: { width: 1280, height: 900 }, locale: "en-US", colorScheme: "light" },
  "a phone, in Chinese, dark": { ...PHONE, locale: "zh-CN", colorScheme: "dark" },
};
const SAY = { approve: "Delete the abandoned orders.", choose: "Which deployment strategy should we use?", choose_many: "Which regions should get the release?", fill: "Write the release note.", perform: "Where am I?", two_phase: "Deploy my-app to Shipper Cloud." };

/** The card of a scenario's hold, on its own page. */
async function held(scenario, options) {
  const session = await world.api("POST", "/v1/sessions", { agent: world.ready.agent, title: scenario });
  await world.api("POST", `/v1/sessions/${session.id}/messages`, { text: SAY[scenario] });
  const hold = await world.holdOf(session.id);
  const page = await world.page(options);
  await page.goto(world.url(`/holds/${hold.id}`));
  const card = cardOf(page, hold.id);
  await card.locator(".bar-in button.danger:not([disabled])").waitFor();
  const settled = async (state) => {
    await card.locator(`[data-settled=${state}]`).waitFor();
    assert.deepEqual(page.troubles, []);
    await assertAccessible(page, `${scenario}, ${state}`);
    return (await world.hold(hold.id)).decision;
  };
  return { page, card, hold, session, settled };
}

const send = (card) => card.locator(".panel button[type=submit]").click();
const runOf = async (session) => (await world.api("GET", `/v1/sessions/${session.id}`)).run;

const ACTIONS = {
  "approve once": async (options) => {
    const { card, settled } = await held("approve", options);
    await card.locator("[data-approve]").click();
    assert.equal((await settled("approved")).verdict, "approve");
    await card.locator("[data-outcome=succeeded]").waitFor();
    await card.locator(".bar-done a.button").waitFor();
  },
  "approve an edited call, after a fresh preview": async (options) => {
    const { card, settled } = await held("approve", options);
    if (options.isMobile) await card.locator(".bar-more").click();
    await card.locator(options.isMobile ? ".more-menu .bar-phone" : ".bar-in .bar-desk").click();
    assert.ok(await card.locator("[data-approve]").isDisabled());
    await card.locator("[data-argument=sql] textarea").fill("DELETE FROM orders WHERE status=1 AND id < 20");
    await card.locator("[data-look=done]").waitFor();
    await card.locator("[data-approve]").click();
    assert.deepEqual((await settled("approved")).arguments, { sql: "DELETE FROM orders WHERE status=1 AND id < 20" });
  },
  "approve for the session, for a time and a number of calls": async (options) => {
    const { card, settled, hold } = await held("approve", options);
    await card.locator(".bar-more").click();
    await card.locator(".more-menu button").first().click();
    await card.locator('.grant-terms input[value="5"]').check({ force: true });
    await send(card);
    assert.equal((await settled("approved")).scope, "session");
    const grant = (await world.api("GET", "/v1/grants")).items.find((one) => one.hold === hold.id);
    assert.ok(grant.uses_left <= 5, `${grant.uses_left}`);
    const lasts = Date.parse(grant.expires_at) - Date.parse(grant.made_at);
    assert.ok(Math.abs(lasts - 3_600_000) < 5000, `${lasts} ms`);
    await world.api("DELETE", `/v1/grants/${grant.id}`);
  },
  "deny with a reason": async (options) => {
    const { card, settled } = await held("approve", options);
    await card.locator(".bar-in button.danger").click();
    await card.locator("textarea[name=reason]").fill("发布期间不行 — not now");
    await send(card);
    assert.equal((await settled("denied")).reason, "发布期间不行 — not now");
  },
  "deny and stop": async (options) => {
    const { card, settled, session } = await held("approve", options);
    await card.locator(".bar-in button.danger").click();
    await card.locator(".panel .actions button.danger").click();
    assert.equal((await settled("denied")).verdict, "deny");
    const status = await until("the end of the run", async () => {
      const run = await runOf(session);
      return ["running", "paused"].includes(run.status) ? null : run.status;
    });
    assert.equal(status, "cancelled");
  },
  "reply instead": async (options) => {
    const { card, settled } = await held("approve", options);
    await card.locator(".bar-more").click();
    await card.locator(".more-menu button:not(.bar-phone)").nth(1).click();
    await card.locator(".panel textarea").fill("it is done already");
    await send(card);
    assert.equal((await settled("answered")).verdict, "respond");
  },
  "choose one": async (options) => {
    const { card, hold, settled } = await held("choose", options);
    await card.locator(".choices input").nth(1).check();
    await card.locator(".bar-in button.primary").click();
    assert.deepEqual((await settled("answered")).choose, [hold.options[1].id]);
  },
  "choose several": async (options) => {
    const { card, hold, settled } = await held("choose_many", options);
    for (const at of [0, 2]) await card.locator(".choices input").nth(at).check();
    await card.locator(".bar-in button.primary").click();
    assert.deepEqual((await settled("answered")).choose, [hold.options[0].id, hold.options[2].id]);
  },
  "fill in a form": async (options) => {
    const { card, hold, settled } = await held("fill", options);
    const wanted = await fillBySchema(card, hold);
    await card.locator(".bar-in button.primary").click();
    assert.deepEqual((await settled("answered")).fill, wanted);
  },
  "decline a question": async (options) => {
    const { card, settled } = await held("fill", options);
    await card.locator(".bar-in button.danger").click();
    await card.locator("textarea[name=reason]").fill("ask Ben");
    await send(card);
    assert.equal((await settled("denied")).reason, "ask Ben");
  },
  "carry out a task": async (options) => {
    const { card, settled } = await held("perform", { ...options, permissions: ["geolocation"], geolocation: { latitude: 31.2304, longitude: 121.4737 } });
    await card.locator("[data-perform=location]").click();
    await card.locator("[data-given]").waitFor();
    await card.locator(".bar-in button.primary").click();
    assert.match((await settled("answered")).perform.content, /"latitude":31\.23,/);
  },
  "confirm the second phase": async (options) => {
    const { card, settled } = await held("two_phase", options);
    await card.locator("[data-approve]").click();
    assert.equal((await settled("approved")).verdict, "approve");
  },
};

/** The card of a hold that a program opened, on its own page. */
async function opened(body, options) {
  const hold = await world.openHold({ kind: "approve", title: "Restart web-3", call: { tool: "web_test_tool", arguments: { host: "web-3" } }, ...body });
  const page = await world.page(options);
  await page.goto(world.url(`/holds/${hold.id}`));
  const card = cardOf(page, hold.id);
  await card.locator(".bar-in button.danger:not([disabled])").waitFor();
  return { page, card, hold };
}

const MORE_ACTIONS = {
  "approve a critical call with its word": async (options) => {
    const { page, card, hold } = await opened({ risk: "critical" }, options);
    const word = card.locator("input[name=word]");
    assert.ok(await card.locator("[data-approve]").isDisabled());
    await assertAccessible(page, "a critical card");
    await word.fill("another");
    assert.ok(await card.locator("[data-approve]").isDisabled(), "another word does not count");
    await word.fill(await card.locator(".confirm .chip").innerText());
    await card.locator("[data-approve]").click();
    await card.locator("[data-settled=approved]").waitFor();
    assert.equal((await world.hold(hold.id)).decision.verdict, "approve");
    assert.deepEqual(page.troubles, []);
  },
  "decide several at once": async (options) => {
    const holds = [];
    for (const at of [1, 2, 3]) holds.push((await opened({ title: `Bulk ${at}`, call: { tool: "web_test_tool", arguments: { at, where: options.locale } } }, options)).hold);
    await world.closePages();
    const page = await world.page(options);
    await page.goto(world.url("/?q=bulk"));
    for (const hold of holds) await page.locator(`[data-select="${hold.id}"]`).check({ force: true });
    await page.locator(".bulk-go").click();
    const sheet = page.locator("[data-sheet=bulk]");
    // One of them is left out after a second look.
    await sheet.locator(`[data-bulk="${holds[2].id}"] input[type=checkbox]`).uncheck();
    await sheet.locator("[data-bulk-send]:not([disabled])").waitFor();
    await assertAccessible(page, "the sheet for several");
    await sheet.locator("[data-bulk-send]").click();
    await sheet.locator("[data-result=done]").nth(1).waitFor();
    assert.deepEqual(await Promise.all(holds.map(async (hold) => (await world.hold(hold.id)).state)), ["approved", "approved", "pending"]);
    await assertAccessible(page, "the results of several");
    assert.deepEqual(page.troubles, []);
  },
  "say something to the others": async (options) => {
    const { page, card, hold } = await opened({ title: "Said" }, options);
    await card.locator(".comment-open").click();
    await card.locator(".comment-box textarea").fill("是预发环境吗？ — is it staging?");
    await card.locator(".comment-box button[type=submit]").click();
    await card.locator(".comment").waitFor();
    const now = await world.hold(hold.id);
    assert.deepEqual([now.state, now.comments.map((one) => [one.by, one.text])], ["pending", [["ana", "是预发环境吗？ — is it staging?"]]]);
    await assertAccessible(page, "a comment");
    assert.deepEqual(page.troubles, []);
  },
  "claim it, and let it go": async (options) => {
    const { page, card, hold } = await opened({ title: "Claimed" }, options);
    await card.locator(".bar-more").click();
    await assertAccessible(page, "the menu of a card");
    await card.locator("[data-claim=true]").click();
    await card.locator("[data-claimed=ana]").waitFor();
    assert.equal((await world.hold(hold.id)).claimed_by, "ana");
    await card.locator(".bar-more").click();
    await card.locator("[data-claim=false]").click();
    await card.locator("[data-claimed]").waitFor({ state: "detached" });
    assert.ok(!(await world.hold(hold.id)).claimed_by);
    assert.deepEqual(page.troubles, []);
  },
  "put it away for an hour, and show it again": async (options) => {
    const { page, card, hold } = await opened({ title: "Snoozed", expires_in_s: 9000 }, options);
    const mine = async () => (await world.api("GET", "/v1/snoozes")).items.find((one) => one.hold === hold.id);
    await card.locator(".bar-more").click();
    await card.locator("[data-snooze=hour]").click();
    await page.locator(".toast").waitFor();
    const lasts = Date.parse((await mine()).until) - Date.now();
    assert.ok(Math.abs(lasts - 3_600_000) < 60_000, `${lasts} ms`);
    await card.locator(".bar-more").click();
    await card.locator("[data-snooze=end]").click();
    await card.locator("[data-snooze]").first().waitFor({ state: "detached" });
    await until("the end of the snooze on the server", async () => !(await mine()));
    assert.equal((await world.hold(hold.id)).state, "pending");
    assert.deepEqual(page.troubles, []);
  },
  "stop a run that waits": async (options) => {
    const { page, hold, session } = await held("approve", options);
    await page.goto(world.url(`/sessions/${session.id}`));
    await page.locator("[data-run=paused] button").click();
    await page.locator("[data-run=cancelled]").waitFor();
    assert.equal((await runOf(session)).status, "cancelled");
    assert.equal((await world.hold(hold.id)).state, "cancelled");
    await assertAccessible(page, "a stopped run");
    assert.deepEqual(page.troubles, []);
  },
};
Object.assign(ACTIONS, MORE_ACTIONS);

for (const [where, options] of Object.entries(KINDS)) {
  for (const [what, act] of Object.entries(ACTIONS)) test(`${what}: on ${where}`, () => act(options));
}

for (const [where, options] of Object.entries(KINDS)) {
  test(`what comes into view can be read from its first moment: on ${where}`, async () => {
    const { page, card } = await held("two_phase", options);
    // Every movement stands still where it is looked at; otherwise that moment is long on a busy machine only.
    const browser = await page.context().newCDPSession(page);
    await browser.send("Animation.enable");
    await browser.send("Animation.setPlaybackRate", { playbackRate: 0 });
    await card.locator("[data-approve]").click();
    await card.locator("[data-settled=approved]").waitFor();
    await page.locator(".toast").waitFor();
    // Nothing more comes after the result, and nothing lies under the pointer.
    await card.locator("[data-outcome=succeeded]").waitFor();
    await page.mouse.move(0, 0);
    for (const part of [0.25, 0.5, 0.75]) {
      const held = await page.evaluate((part) => {
        const moves = document.getAnimations();
        const ofTheLine = moves.filter((move) => move.effect.target.closest(".toast") !== null);
        for (const move of ofTheLine) {
          move.pause();
          move.currentTime = part * move.effect.getComputedTiming().duration;
        }
        // A button that the pointer left changes its colour, and would do so for ever while time stands still.
        for (const move of moves) if (!ofTheLine.includes(move) && move.effect.getComputedTiming().endTime !== Infinity) move.finish();
        return ofTheLine.length;
      }, part);
      assert.ok(held > 0, "the line is still on its way");
      await assertAccessible(page, `a line that has come ${part * 100} % of its way`);
    }
  });
}

const call = { tool: "web_test_tool", arguments: { nodes: 12 } };

/** What a card can come to without the reader's doing, and what stands there then. */
const STATES = {
  "without a connection": async (page) => {
    await page.context().setOffline(true);
    await page.locator(".banner-offline").waitFor();
  },
  "when no reply came": async (page, hold) => {
    await page.route(`**/v1/holds/${hold.id}/answer`, (route) => route.abort());
    await page.locator("[data-approve]").click();
    await page.locator("[data-code=unreachable]").waitFor();
  },
  "when the call changed": async (page, hold) => {
    const changed = { ...hold, version: hold.version + 1, digest: `sha256:${"0".repeat(64)}`, view: { ...hold.view, text: `${hold.view.text}more` } };
    await page.route(`**/v1/holds/${hold.id}`, (route) => route.fulfill({ json: changed }));
    await page.route(`**/v1/holds/${hold.id}/answer`, (route) => route.fulfill({ status: 409, contentType: "application/problem+json", json: { status: 409, code: "version_conflict" } }));
    await page.locator("[data-approve]").click();
    await page.locator("[data-stale-diff]").waitFor();
  },
  "when somebody else decided": async (page, hold) => {
    await world.api("POST", `/v1/holds/${hold.id}/answer`, { digest: hold.digest, answer: { verdict: "deny", reason: "done already" } });
    await page.locator("[data-settled=denied]").waitFor();
  },
  "when it was withdrawn": async (page, hold) => {
    await world.api("POST", `/v1/holds/${hold.id}/cancel`, { reason: "no longer needed" }, world.ready.program_token);
    await page.locator("[data-settled=cancelled]").waitFor();
  },
  "when all is frozen": async (page) => {
    await world.api("POST", "/v1/freeze", { reason: "release night" });
    await page.locator(".banner-frozen").waitFor();
    await world.api("DELETE", "/v1/freeze");
  },
};

for (const [where, options] of Object.entries(KINDS)) {
  test(`a card can be read in every state: on ${where}`, async () => {
    for (const [state, come] of Object.entries(STATES)) {
      const hold = await world.openHold({ kind: "approve", title: "Scale the cluster", call });
      const page = await world.page(options);
      await page.goto(world.url(`/holds/${hold.id}`));
      await page.locator("[data-approve]:not([disabled])").waitFor();
      await come(page, hold);
      await assertAccessible(page, state);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${state}: ${wide} px too wide`);
      assert.deepEqual(page.troubles, [], state);
      await world.closePages();
    }
  });
}

const SHEETS = {
  notices: async (page, phone) => {
    if (phone) {
      await page.locator("[data-nav=more]").click();
      await assertAccessible(page, "the sheet more");
      await page.locator("[data-sheet=more] .more-list button").nth(1).click();
    } else await page.locator("[data-nav=notices]").click();
  },
  keys: (page) => page.keyboard.press("?"),
  freeze: async (page) => {
    await page.goto(world.url("/admin"));
    await page.locator(".admin-head button").click();
  },
  token: async (page) => {
    await page.goto(world.url("/admin/tokens"));
    await page.locator(".admin-panel header button.primary").click();
  },
  login: async (page) => {
    await page.goto(world.url("/admin/tokens"));
    await page.locator(".admin-panel header button:not(.primary)").first().click();
  },
  thaw: async (page) => {
    await world.api("POST", "/v1/freeze", { reason: "release night" });
    await page.locator(".banner-frozen button").click();
  },
};

for (const [where, options] of Object.entries(KINDS)) {
  test(`every sheet and the login can be read: on ${where}`, async () => {
    for (const [name, show] of Object.entries(SHEETS)) {
      const page = await world.page(options);
      await page.goto(world.url("/"));
      await page.locator(".list-head").waitFor();
      await show(page, options.isMobile === true);
      await page.locator(`[data-sheet=${name}]`).waitFor();
      await assertAccessible(page, `the sheet ${name}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${name}: ${wide} px too wide`);
      if (name === "thaw") {
        await page.locator("[data-sheet=thaw] button.primary").click();
        await page.locator(".banner-frozen").waitFor({ state: "detached" });
      }
      await page.context().close();
    }
    const page = await world.page({ ...options, loggedIn: false });
    await page.goto(world.url("/"));
    await page.locator("main.login form").waitFor();
    await page.locator("main.login summary").click();
    await assertAccessible(page, "the page of somebody who is not logged in");
    await page.locator("input[name=person]").fill("ana");
    await page.locator("main.login button[type=submit]").click();
    await page.locator("main.login [role=status]").waitFor();
    await assertAccessible(page, "a login that was asked for");
  });
}
