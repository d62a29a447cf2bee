// A tab that stands open and hidden says what waits: once for each hold, once more before it expires, in our words alone, and it takes
// the notice back when nothing is left to do. From the notice it is one more action to the decision. On a desk in English and light,
// and on a phone in Chinese and dark.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { assertAccessible } from "./axe.mjs";
import { cardOf, open, until } from "./harness.mjs";
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
const WORDS = {
  "en-US": { verb: "Call a tool", asks: "It waits for your answer.", soon: "It expires soon, and waits for your answer." },
  "zh-CN": { verb: "调用工具", asks: "等待你的答复。", soon: "即将过期，仍在等待你的答复。" },
};
const CANARY = "canary-4471";
const ask = (more = {}) => world.openHold({ kind: "approve", title: `Wipe ${CANARY}`, call: { tool: CANARY, arguments: { table: CANARY } }, expires_in_s: 200_000, ...more });

/** Whether the tab is in view is the browser's to say, and here the test's; what the page shows beside itself is kept. */
function pretend() {
  let hidden = false;
  Object.defineProperty(document, "hidden", { get: () => hidden });
  Object.defineProperty(document, "visibilityState", { get: () => (hidden ? "hidden" : "visible") });
  window.hide = (now) => {
    hidden = now;
    document.dispatchEvent(new Event("visibilitychange"));
  };
  window.notices = [];
  window.Notification = class {
    static permission = "granted";
    static requestPermission = async () => "granted";
    constructor(title, options) {
      Object.assign(this, { title, ...options, open: true });
      window.notices.push(this);
    }
    close() {
      this.open = false;
    }
  };
}

const noticesOf = (page) => page.evaluate(() => window.notices.map(({ title, body, tag, open }) => ({ title, body, tag, open })));
/** A hidden page looks every half a minute; here its clock runs ahead until it has. */
const later = (page, what, look, step = 31_000) =>
  until(what, async () => {
    await page.clock.fastForward(step);
    return look(await noticesOf(page));
  });

for (const [where, options] of Object.entries(KINDS)) {
  test(`a hidden tab tells what waits, and two actions are enough to decide: on ${where}`, async () => {
    const words = WORDS[options.locale];
    const page = await world.page(options);
    await page.addInitScript(pretend);
    await page.clock.install({ time: Date.now() });
    await page.goto(world.url("/"));
    await page.locator(".list-head").waitFor();
    // It is the person's own choice.
    if (options.isMobile) {
      await page.locator("[data-nav=more]").click();
      await page.locator("[data-sheet=more] .more-list button").nth(1).click();
    } else await page.locator("[data-nav=notices]").click();
    const sheet = page.locator("[data-sheet=notices]");
    await sheet.locator("[aria-pressed=false]").last().click();
    await sheet.locator("[aria-pressed=true]").waitFor();
    await assertAccessible(page, "the sheet of notices, turned on");
    await page.keyboard.press("Escape");
    await sheet.waitFor({ state: "detached" });

    // While it is looked at there is no notice.
    const seen = await ask();
    await page.locator(`[data-item="${seen.id}"]`).waitFor();
    assert.deepEqual(await noticesOf(page), [], "the page itself shows it");

    await page.evaluate(() => window.hide(true));
    const hold = await ask();
    await later(page, "the notice", (all) => all.length > 0);
    const [notice, ...more] = await noticesOf(page);
    assert.deepEqual(more, [], "what was seen before is not told");
    assert.ok(notice.title.startsWith(`${hold.tag} · ${words.verb}`), notice.title);
    assert.deepEqual([notice.body, notice.tag, notice.open], [words.asks, hold.id, true]);
    assert.ok(!JSON.stringify(notice).includes(CANARY), "it stands on a screen that others see");
    // It is told once, and again only before it expires.
    await page.clock.fastForward(31_000);
    await page.clock.fastForward(31_000);
    assert.equal((await noticesOf(page)).length, 1);
    const short = await ask({ expires_in_s: 200 });
    await later(page, "the notice of what expires soon", (all) => all.some((one) => one.tag === short.id));
    assert.deepEqual((await noticesOf(page)).filter((one) => one.tag === short.id).map((one) => one.body), [words.soon]);
    // Settled elsewhere: nothing is left to do, and the notice goes.
    await world.api("POST", `/v1/holds/${short.id}/answer`, { digest: short.digest, answer: { verdict: "deny" } });
    await later(page, "the end of the notice", (all) => all.some((one) => one.tag === short.id && !one.open));
    assert.ok((await noticesOf(page)).some((one) => one.tag === hold.id && one.open), "the other one stays");

    // First action: the notice. The browser brings the tab into view and tells the page.
    await page.evaluate((id) => {
      window.hide(false);
      window.notices.find((one) => one.tag === id).onclick();
    }, hold.id);
    await page.waitForURL(`**/holds/${hold.id}`);
    const approve = cardOf(page, hold.id).locator("[data-approve]:not([disabled])");
    await approve.waitFor();
    const box = await approve.boundingBox();
    assert.ok(box.y >= 0 && box.y + box.height <= options.viewport.height, "it can be pressed without scrolling");
    assert.ok((await noticesOf(page)).every((one) => one.tag !== hold.id || !one.open), "it was read");
    // Second action: the decision.
    if (options.isMobile) await approve.tap();
    else await approve.click();
    await cardOf(page, hold.id).locator("[data-settled=approved]").waitFor();
    assert.equal((await world.hold(hold.id)).decision.verdict, "approve");
    assert.deepEqual(page.troubles, []);
    await world.api("POST", `/v1/holds/${seen.id}/answer`, { digest: seen.digest, answer: { verdict: "deny" } });
  });
}
