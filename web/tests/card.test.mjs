// The card, read in five seconds: every decisive fact of every built-in tool and of three MCP tools is inside the first screen of a
// phone, in words of ours, and the keyboard decides in two keys.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { asPage, CALLS, holdFor, openEveryTool } from "./every_tool.mjs";
import { assertAccessible } from "./axe.mjs";
import { serveFrom, until } from "./harness.mjs";

let world;
const holds = {};
before(async () => {
  world = await openEveryTool();
  for (const says of Object.keys(CALLS)) holds[says] = await holdFor(world, says);
});
after(async () => {
  await world?.close();
});

async function pageWith(options) {
  const context = await world.browser.newContext({ locale: "en-US", storageState: world.storage, ...options });
  context.setDefaultTimeout(15_000);
  if (process.env.HOLDPOINT_DIST) await serveFrom(process.env.HOLDPOINT_DIST, context);
  return context.newPage();
}

async function openCard(page, hold) {
  await page.goto(world.url(`/holds/${hold.id}`));
  const card = page.locator(`article[data-hold="${hold.id}"]`);
  await card.waitFor();
  return card;
}

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

test("verb, amount, target and asker are inside the first screen of a phone, for every tool", async () => {
  const page = await pageWith(PHONE);
  for (const [says, call] of Object.entries(CALLS)) {
    const card = await openCard(page, holds[says]);
    const verb = card.locator("h1");
    assert.match(await verb.innerText(), call.verb, says);
    const bar = (await card.locator(".bar").boundingBox()).y;
    const inside = async (locator, what) => {
      const box = await locator.first().boundingBox();
      assert.ok(box && box.y >= 0 && box.y + box.height <= bar, `${says}: ${what} is at ${box?.y}, and the bar at ${bar}`);
    };
    await inside(verb, "the verb");
    await inside(card.locator("[data-fact='hold.asked_by'] .chip", { hasText: "billing-agent" }), "the asker");
    for (const shown of call.shown) await inside(card.locator(".card-in :is(.chip, .pill, .fx-lines)", { hasText: shown }), shown);
    // Both are in reach of a thumb, and alike.
    const buttons = await card.locator(".bar-in > button:not(.bar-more)").evaluateAll((all) => all.filter((one) => one.offsetParent).map((one) => one.getBoundingClientRect().toJSON()));
    assert.equal(buttons.length, 2, says);
    for (const box of buttons) assert.ok(box.height >= 48 && Math.abs(box.width - buttons[0].width) < 8 && box.bottom <= 844, `${says}: ${JSON.stringify(box)}`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${says} is ${wide} px too wide`);
  }
  await page.context().close();
});

test("nothing of a call is left out, and an edit of a file is a diff", async () => {
  const page = await pageWith({ viewport: { width: 1280, height: 900 } });
  const card = await openCard(page, holds["edit the file"]);
  const diff = card.locator("figure.fx-diff");
  assert.deepEqual(await diff.locator("li.fx-removed").allInnerTexts(), ["timeout_s = 30", "retry = false"]);
  assert.deepEqual(await diff.locator("li.fx-added").allInnerTexts(), ["timeout_s = 5", "retry = true", "retry_max = 10"]);
  assert.equal(await diff.locator(".fx-word-removed").first().innerText(), "30");
  const sql = await openCard(page, holds["delete rows"]);
  const text = await sql.locator("figure.fx li").first().evaluate((item) => item.parentElement.textContent);
  assert.ok(text.startsWith("DELETE FROM ordersWHERE status = 1"), "colours change nothing of the text");
  assert.equal(await sql.locator(".hl-danger").first().innerText(), "DELETE");
  const request = await openCard(page, holds["open a ticket"]);
  assert.match(await request.locator("[data-testid=view]").innerText(), /POST http[\s\S]+Refund order 7/);
  await page.context().close();
});

test("a arms, Enter fires, any other key disarms; nothing acts in the first moment", async () => {
  const page = await pageWith({ viewport: { width: 1280, height: 900 } });
  const hold = await holdFor(world, "delete rows");
  const card = await openCard(page, hold);
  const approve = card.locator("[data-approve]");
  assert.ok(await approve.isDisabled(), "the card has just come");
  await page.locator("[data-approve]:not([disabled])").waitFor();
  await page.keyboard.press("a");
  await page.locator("[data-armed=true]").waitFor();
  assert.match(await approve.innerText(), /Press Enter: delete 214 rows/);
  await page.keyboard.press("Escape");
  await page.locator("[data-armed=false]").waitFor();
  assert.equal((await asPage(world.page, "GET", `/v1/holds/${hold.id}`)).state, "pending");
  await page.keyboard.press("a");
  await page.locator("[data-armed=true]").waitFor();
  await page.keyboard.press("Enter");
  await card.locator("[data-settled=approved]").waitFor();
  await card.locator("[data-outcome=succeeded]").waitFor();
  // What was decided is on top and in view, and the way on is at hand.
  const banner = await card.locator("[data-settled]").boundingBox();
  assert.ok(banner.y >= 0 && banner.y < 200, `${banner.y}`);
  assert.match(await card.locator(".next").innerText(), /^Next: /);
  await page.context().close();
});

test("keys that come with the card do nothing, and half a second later they do", async () => {
  const page = await pageWith({ viewport: { width: 1280, height: 900 } });
  const hold = await holdFor(world, "clean up");
  // Time goes on only when it is told to, so that the card is as new as a card can be.
  // Its clock is ten minutes slow until it stands still: so much room is there between the two lines.
  await page.clock.install({ time: Date.now() - 600_000 });
  await page.clock.pauseAt(Date.now());
  await page.goto(world.url(`/holds/${hold.id}`));
  const card = page.locator(`article[data-hold="${hold.id}"]`);
  // A step of the page's clock at each look, however long the replies of the server take.
  await until("the card", async () => {
    if ((await card.count()) > 0) return true;
    await page.clock.runFor(10);
    return false;
  });
  await page.clock.runFor(200);
  const nothing = async (when) => {
    for (const key of ["a", "Enter", "d", "e", "r"]) await page.keyboard.press(key);
    await card.locator("[data-approve]").click({ force: true });
    assert.equal(await card.locator("[data-armed=true], .panel, [data-edit]").count(), 0, when);
    assert.ok(await card.locator("[data-approve]").isDisabled(), when);
  };
  await nothing("after a fifth of a second");
  await page.clock.runFor(250);
  await nothing("after not quite half a second");
  assert.equal((await asPage(world.page, "GET", `/v1/holds/${hold.id}`)).state, "pending");
  await page.clock.runFor(300);
  await page.keyboard.press("a");
  await page.clock.runFor(50);
  await card.locator("[data-armed=true]").waitFor();
  await page.context().close();
});

test("r replies instead, and the menu says to others who is on it", async () => {
  const page = await pageWith({ viewport: { width: 1280, height: 900 } });
  const hold = await holdFor(world, "clean up");
  const card = await openCard(page, hold);
  await page.locator("[data-approve]:not([disabled])").waitFor();
  await card.locator(".bar-more").click();
  await card.getByRole("button", { name: "I am on it" }).click();
  await card.getByText("Ana Ruiz is on it").waitFor();
  assert.equal((await asPage(world.page, "GET", `/v1/holds/${hold.id}`)).claimed_by, "ana");
  await card.locator(".bar-more").click();
  await card.getByRole("button", { name: "I am no longer on it" }).click();
  await card.getByText("Ana Ruiz is on it").waitFor({ state: "detached" });
  assert.equal((await asPage(world.page, "GET", `/v1/holds/${hold.id}`)).claimed_by ?? null, null);
  await page.locator(".hold-page h1").focus();
  await page.keyboard.press("r");
  await card.locator(".panel textarea:focus").waitFor();
  await page.keyboard.type("Ask me again tomorrow.");
  await page.keyboard.press("Control+Enter");
  await card.locator("[data-settled]").waitFor();
  const told = await asPage(world.page, "GET", `/v1/holds/${hold.id}`);
  assert.match(JSON.stringify(told.answers ?? told.decision), /Ask me again tomorrow/);
  await page.context().close();
});

test("d denies with a reason by keyboard alone", async () => {
  const page = await pageWith({ viewport: { width: 1280, height: 900 } });
  const hold = await holdFor(world, "send a message");
  const card = await openCard(page, hold);
  await page.locator("[data-approve]:not([disabled])").waitFor();
  await page.keyboard.press("d");
  await card.locator("textarea[name=reason]:focus").waitFor();
  await page.keyboard.type("not during the freeze");
  await page.keyboard.press("Control+Enter");
  await card.locator("[data-settled=denied]").waitFor();
  assert.match(await card.innerText(), /not during the freeze/);
  await page.context().close();
});

test("digits pick an option, and sending is a step of its own", async () => {
  const page = await pageWith({ viewport: { width: 1280, height: 900 } });
  const hold = await holdFor(world, "ask a person");
  const card = await openCard(page, hold);
  await card.locator(".bar button.primary:not([disabled])").waitFor();
  await page.keyboard.press("2");
  assert.equal(await card.locator(".choices input:checked").getAttribute("value"), hold.options[1].id);
  assert.equal((await asPage(world.page, "GET", `/v1/holds/${hold.id}`)).state, "pending");
  await card.getByRole("button", { name: "Send answer" }).click();
  await card.locator("[data-settled=answered]").waitFor();
  await page.context().close();
});

test("a critical call waits for its word, also from the keyboard", async () => {
  const page = await pageWith(PHONE);
  const card = await openCard(page, holds["drop the table"]);
  const approve = card.locator("[data-approve]");
  assert.equal(await card.locator(".confirm .chip").innerText(), "old_orders");
  await card.getByRole("button", { name: "Deny…" }).and(page.locator(":not([disabled])")).waitFor();
  assert.ok(await approve.isDisabled());
  await card.locator("input[name=word]").fill("old_orders");
  await approve.click();
  await card.locator("[data-settled=approved]").waitFor();
  await page.context().close();
});

test("every card stands the rules of WCAG 2.2, light and dark, at a desk and on a phone", async () => {
  for (const colorScheme of ["light", "dark"]) {
    for (const options of [PHONE, { viewport: { width: 1280, height: 900 } }]) {
      const page = await pageWith({ ...options, colorScheme });
      for (const [says, hold] of Object.entries(holds)) {
        const card = await openCard(page, hold);
        await card.locator(".bar button:not([disabled])").first().waitFor();
        await assertAccessible(page, `${says}, ${colorScheme}, ${options.viewport.width}`);
      }
      await page.context().close();
    }
  }
});

test("panels, menus and edits stand them, too, and give the focus back", async () => {
  const page = await pageWith({ viewport: { width: 1280, height: 900 } });
  const card = await openCard(page, holds["clean up"]);
  await page.locator("[data-approve]:not([disabled])").waitFor();
  await page.keyboard.press("d");
  await card.locator("textarea[name=reason]:focus").waitFor();
  await assertAccessible(page, "denying");
  await page.keyboard.press("Escape");
  await card.locator(".bar-more").click();
  await assertAccessible(page, "the menu");
  await card.getByRole("button", { name: "Approve for this session…" }).click();
  assert.match(await card.locator(".panel").innerText(), /exactly these arguments/);
  await assertAccessible(page, "for the session");
  await page.keyboard.press("Escape");
  await card.locator("[data-approve]").waitFor();
  await page.locator(".hold-page h1").focus();
  await page.keyboard.press("e");
  await card.locator("[data-argument=command] textarea:focus").waitFor();
  await assertAccessible(page, "editing");
  await page.context().close();
});

test("a screen reader is told what the card is, what decides, and what became of it", async () => {
  const page = await pageWith({ viewport: { width: 1280, height: 900 } });
  const hold = await holdFor(world, "edit the file");
  await openCard(page, hold);
  const article = page.getByRole("article", { name: "Change 1 file" });
  await article.getByRole("heading", { level: 1, name: "Change 1 file" }).and(page.locator(":focus")).waitFor();
  const names = await article.getByRole("region").evaluateAll((all) => all.map((one) => one.getAttribute("aria-label")));
  for (const name of ["What will change", "About this hold", "Your answer"]) assert.ok(names.includes(name), `${name} in ${names}`);
  await article.locator("[data-approve]:not([disabled])").waitFor();
  // From the headline by Tab alone to the button that approves: what can be copied and opened comes on the way, and nothing traps.
  const passed = [];
  for (let presses = 0; presses < 20; presses += 1) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => ({ name: document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent.trim(), approve: document.activeElement.hasAttribute("data-approve") }));
    passed.push(at.name);
    if (at.approve) break;
  }
  assert.ok(passed.length < 20, passed.join(" | "));
  assert.ok(passed.includes("Digest and raw record"), passed.join(" | "));
  await page.keyboard.press("Enter");
  await page.locator("[data-settled=approved]:focus").waitFor();
  await page.context().close();
});

test("the card speaks Chinese", async () => {
  const page = await pageWith({ ...PHONE, locale: "zh-CN" });
  const card = await openCard(page, holds["pay the bill"]);
  assert.equal(await card.locator("h1").innerText(), "调用工具，效果未知");
  const text = await card.innerText();
  for (const word of ["智能体", "批准一次", "拒绝…", "模型自己的话", "无人核实", "如果出错"]) assert.ok(text.includes(word), word);
  assert.ok(!/Approve|Deny|Asked|Stopped/.test(text), text);
  await assertAccessible(page, "in Chinese");
  await page.context().close();
});
