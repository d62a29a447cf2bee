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

test("nothing of the card is seen below the bar, on scaled screens and small ones too, and the bar is whole", async () => {
  const hold = await world.openHold({ kind: "approve", title: "Long", call: { tool: "web_test_tool", arguments: Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`argument_${at}`, at])) } });
  const start = await world.page();
  await (await world.scenario(start, "approve")).first().waitFor();
  const session = new URL(start.url()).pathname;
  const probe = await world.page();
  // Widths at which the bar's height is no whole number of pixels of a screen scaled by 1.25.
  for (const [path, width, height, mobile] of [[`/holds/${hold.id}`, 1157, 642, false], [session, 1002, 642, false], [`/holds/${hold.id}`, 390, 640, true], [session, 390, 640, true]]) {
    const page = await world.page({ viewport: { width, height }, deviceScaleFactor: 1.25, isMobile: mobile, hasTouch: mobile, bypassCSP: true });
    await page.goto(world.url(path));
    await page.locator(".bar .primary").first().waitFor();
    await page.addStyleTag({ content: ".card-in, .card-in * { background: #f0f !important; color: #f0f !important }" });
    const bar = await page.evaluate(async () => {
      const bar = document.querySelector(".bar");
      const pane = bar.closest(".pane");
      if (pane !== null && getComputedStyle(pane).overflowY === "auto") pane.scrollTop = 77.5;
      else scrollTo(0, 77.5);
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      const { top, bottom } = bar.getBoundingClientRect();
      const buttons = [...bar.querySelectorAll("button")].map((one) => one.getBoundingClientRect().bottom);
      return { top, bottom, room: innerHeight - Math.max(...buttons) };
    });
    const where = `${path} at ${width}: ${JSON.stringify(bar)}`;
    assert.ok(bar.bottom >= height + 0.5 && bar.bottom <= height + 2, where);
    assert.ok(bar.room >= 8, where);
    const top = Math.ceil(bar.top) + 12;
    const png = (await page.screenshot({ clip: { x: 0, y: top, width, height: height - top } })).toString("base64");
    const seen = await probe.evaluate(async (png) => {
      const image = new Image();
      image.src = `data:image/png;base64,${png}`;
      await image.decode();
      const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
      context.drawImage(image, 0, 0);
      const { data } = context.getImageData(0, 0, image.width, image.height);
      let widest = 0;
      for (let row = 0; row < image.height; row++) {
        let ink = 0;
        for (let at = row * image.width * 4; at < (row + 1) * image.width * 4; at += 4) if (data[at] > 200 && data[at + 1] < 60 && data[at + 2] > 200) ink += 1;
        widest = Math.max(widest, ink);
      }
      return widest;
    }, png);
    // The round corners of a card are its own.
    assert.ok(seen < 60, `${where}: a line of ${seen} pixels of the card below its bar`);
    await page.context().close();
  }
});

test("a diff says the same number of lines above it as the headline, and the names of files are none of them", async () => {
  const diff = "--- a/app.conf\n+++ b/app.conf\n@@ -1,2 +1,3 @@\n-workers = 4\n+workers = 8\n+threads = 2\n port = 80\n";
  const hold = await world.openHold({ kind: "approve", title: "Edit", call: { tool: "write_file", arguments: { path: "app.conf" } }, preview: { diff } });
  const page = await world.page();
  await page.goto(world.url(`/holds/${hold.id}`));
  const card = cardOf(page, hold.id);
  await card.locator(".fx-diff").waitFor();
  assert.match(await card.locator("h1").innerText(), /\+2 −1 lines/);
  assert.equal((await card.locator(".diff-count").innerText()).trim(), "+2 −1");
  assert.equal(await card.locator(".fx-removed").count(), 1);
  assert.match(await card.locator(".fx-diff").innerText(), /--- a\/app\.conf[\s\S]*\+\+\+ b\/app\.conf/, "they are still shown, as they were written");
});

test("the days below the figures do not run into one another on a phone", async () => {
  for (const locale of ["en-US", "zh-CN"]) {
    const page = await world.page({ ...PHONE, locale });
    await page.goto(world.url("/admin/figures"));
    await page.locator(".figures-axis").waitFor();
    const ends = await page.locator(".figures-axis span").evaluateAll((all) =>
      all
        .filter((one) => getComputedStyle(one).visibility === "visible")
        .map((one) => {
          const range = document.createRange();
          range.selectNodeContents(one);
          const { left, right } = range.getBoundingClientRect();
          return [left, right];
        }),
    );
    assert.ok(ends.length >= 3, `${ends.length} days`);
    ends.slice(1).forEach(([left], at) => assert.ok(left >= ends[at][1] + 4, JSON.stringify(ends)));
    await assertNoSideways(page, "the figures");
  }
});

test("the buttons of a critical call stand in one row on a phone", async () => {
  const hold = await world.openHold({ kind: "approve", title: "Drop it", risk: "critical", call: { tool: "run_sql", arguments: { sql: "DROP TABLE customers" } } });
  for (const locale of ["en-US", "zh-CN"]) {
    const page = await world.page({ ...PHONE, locale });
    await page.goto(world.url(`/holds/${hold.id}`));
    await cardOf(page, hold.id).locator("[data-approve]").waitFor();
    const middles = await page.locator(".bar-in > button:visible").evaluateAll((all) => all.map((one) => one.getBoundingClientRect()).map(({ top, bottom }) => Math.round((top + bottom) / 2)));
    assert.ok(middles.length === 3 && new Set(middles).size === 1, `${locale}: ${middles}`);
  }
});
