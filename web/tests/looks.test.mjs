// On a phone, in the dark, in Chinese, and with the right names for screen readers.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { cardOf, holdId, open } from "./harness.mjs";

let world;
before(async () => {
  world = await open();
});
afterEach(() => world.closePages());
after(async () => {
  await world?.close();
});

const PHONE = { viewport: { width: 360, height: 720 }, isMobile: true, hasTouch: true };

async function assertNoSideways(page, where) {
  const beyond = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(beyond <= 0, `${where} is ${beyond} px too wide`);
}

test("on a phone nothing scrolls sideways, and a hold's own page shows the hold first", async () => {
  const page = await world.page(PHONE);
  for (const name of ["approve", "choose", "fill", "perform", "parallel"]) {
    const id = await holdId((await world.scenario(page, name, name === "parallel" ? 2 : 1)).first());
    await assertNoSideways(page, `the session of ${name}`);
    await page.goto(world.url(`/holds/${id}`));
    await cardOf(page, id).waitFor();
    await assertNoSideways(page, `the hold of ${name}`);
    const top = await cardOf(page, id).evaluate((card) => card.getBoundingClientRect().top + scrollY);
    assert.ok(top < 200, `the hold begins at ${top} px`);
  }
  const wide = await world.openHold({
    kind: "approve",
    title: "w".repeat(300),
    call: { tool: "t".repeat(100), arguments: { ["k".repeat(200)]: "v".repeat(2000) } },
    context: { ["c".repeat(200)]: "d".repeat(500) },
  });
  await page.goto(world.url(`/holds/${wide.id}`));
  await cardOf(page, wide.id).waitFor();
  await assertNoSideways(page, "a hold of very long words");
  for (const path of ["/", "/start", "/sessions", "/history"]) {
    await page.goto(world.url(path));
    await page.locator(path === "/start" ? "[data-scenario]" : path === "/" ? "[data-item]" : "h1").first().waitFor();
    await assertNoSideways(page, path);
  }
});

test("the dark scheme follows the system", async () => {
  const ground = async (colorScheme) => {
    const page = await world.page({ colorScheme });
    await page.goto(world.url("/start"));
    await page.waitForSelector("[data-scenario]");
    return page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  };
  const brightness = (rgb) => rgb.match(/\d+/g).slice(0, 3).reduce((sum, one) => sum + Number(one), 0);
  assert.ok(brightness(await ground("dark")) < 150);
  assert.ok(brightness(await ground("light")) > 600);
});

test("the language is the browser's until it is switched, and the switch is remembered", async () => {
  const page = await world.page({ locale: "zh-CN" });
  await page.goto(world.url("/"));
  await page.getByRole("heading", { name: "等待你处理" }).waitFor();
  assert.equal(await page.getAttribute("html", "lang"), "zh-Hans");
  await page.getByRole("button", { name: "Switch to English" }).click();
  await page.getByRole("heading", { name: "Waiting for you" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Waiting for you" }).waitFor();
  assert.equal(await page.getAttribute("html", "lang"), "en");
});

test("every control has a name, and the focus can be seen", async () => {
  const page = await world.page();
  for (const name of ["approve", "choose", "fill", "perform"]) {
    await world.scenario(page, name);
    const nameless = await page.locator("button, a, input, select, textarea").evaluateAll((all) =>
      all
        .filter((one) => !(one.textContent.trim() || one.getAttribute("aria-label") || one.labels?.length))
        .map((one) => one.outerHTML),
    );
    assert.deepEqual(nameless, [], name);
  }
  await page.keyboard.press("Tab");
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.notEqual(outline, "none");
});

test("settling is announced politely", async () => {
  const hold = await world.openHold({ kind: "approve", title: "Announce me", call: { tool: "web_test_tool", arguments: {} } });
  const page = await world.page();
  await page.goto(world.url("/"));
  await page.locator(`[data-item="${hold.id}"]`).waitFor();
  await world.api("POST", `/v1/holds/${hold.id}/answer`, { digest: hold.digest, answer: { verdict: "approve", scope: "once" } });
  await page.locator("[aria-live=polite]", { hasText: /Announce me: Approved by/ }).waitFor({ state: "attached" });
});
