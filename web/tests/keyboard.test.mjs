// The whole way without a pointer: through the list, decide, on to the next, say that one is on it, choose several, and decide those together.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { cardOf, open } from "./harness.mjs";

let world;
before(async () => {
  world = await open();
});
afterEach(async () => {
  await world.closePages();
  for (const hold of (await world.api("GET", "/v1/holds?state=pending&limit=100")).items) await world.api("POST", `/v1/holds/${hold.id}/answer`, { digest: hold.digest, answer: { verdict: "deny" } });
});
after(async () => {
  await world?.close();
});

const ask = (at) => world.openHold({ kind: "approve", title: `Number ${at}`, call: { tool: "web_test_tool", arguments: { at } }, expires_in_s: 1000 * (at + 1) });
const focusedHold = (page) => page.evaluate(() => document.activeElement?.dataset.item);
const pressable = (page, id) => cardOf(page, id).locator("[data-approve]:not([disabled])").waitFor();

for (const [where, locale, keys] of [
  ["English", "en-US", /review what is selected[\s\S]*say that you are on it/],
  ["Chinese", "zh-CN", /查看所选事项[\s\S]*认领/],
]) {
  test(`from the list to many decisions without a click: in ${where}`, async () => {
    const holds = [];
    for (let at = 0; at < 5; at++) holds.push(await ask(at));
    const page = await world.page({ locale });
    // Whatever a pointer would do is counted, and has to stay at nothing.
    await page.addInitScript(() => {
      window.pointed = 0;
      for (const kind of ["pointerdown", "mousedown", "touchstart"]) addEventListener(kind, () => (window.pointed += 1), { capture: true });
    });
    await page.goto(world.url("/"));
    await pressable(page, holds[0].id);
    await page.waitForFunction(() => document.querySelectorAll("[data-item]").length === 5);

    // Open the second, claim it, and decide it with two keys.
    await page.keyboard.press("j");
    assert.equal(await focusedHold(page), holds[1].id);
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/holds/${holds[1].id}`);
    await pressable(page, holds[1].id);
    await page.keyboard.press("m");
    await cardOf(page, holds[1].id).locator("[data-claimed=ana]").waitFor();
    assert.equal((await world.hold(holds[1].id)).claimed_by, "ana");
    await pressable(page, holds[1].id);
    await page.keyboard.press("a");
    assert.equal(await page.locator("[data-armed=true]").count(), 1);
    assert.equal((await world.hold(holds[1].id)).state, "pending", "one key decides nothing");
    await page.keyboard.press("Enter");
    // The next that waits comes by itself.
    await page.waitForFunction((id) => !location.pathname.endsWith(id) && location.pathname.includes("hold_"), holds[1].id);
    assert.equal((await world.hold(holds[1].id)).state, "approved");

    // Two more from the list are decided together.
    await page.keyboard.press("Escape");
    await page.waitForURL((url) => url.pathname === "/");
    const chosen = [];
    for (let at = 0; at < 2; at++) {
      await page.keyboard.press("j");
      chosen.push(await focusedHold(page));
      await page.keyboard.press("x");
    }
    await page.locator(".bulk").waitFor();
    await page.keyboard.press("b");
    const sheet = page.locator("[data-sheet=bulk]");
    await sheet.locator("[data-bulk-send]:not([disabled])").waitFor();
    assert.deepEqual((await sheet.locator("[data-bulk]").evaluateAll((rows) => rows.map((row) => row.dataset.bulk))).sort(), [...chosen].sort());
    const passed = [];
    for (;;) {
      const at = await page.evaluate(() => ({ name: document.activeElement?.textContent.trim().slice(0, 40), send: document.activeElement?.hasAttribute("data-bulk-send") }));
      if (at.send) break;
      passed.push(at.name);
      assert.ok(passed.length < 60, `Tab does not come to the button that sends: ${passed.join(" | ")}`);
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Enter");
    await sheet.locator("[data-result=done]").nth(1).waitFor();
    for (const id of chosen) assert.equal((await world.hold(id)).state, "approved");
    await page.keyboard.press("Escape");
    await sheet.waitFor({ state: "detached" });

    // The sheet of keys says all of that.
    await page.keyboard.press("?");
    assert.match(await page.locator("[data-sheet=keys]").innerText(), keys);
    const named = await page.locator("[data-sheet=keys] kbd").allInnerTexts();
    for (const key of ["m", "b", "x", "a", "c"]) assert.ok(named.includes(key), key);
    await page.keyboard.press("Escape");
    assert.equal(await page.evaluate(() => window.pointed), 0, "no pointer was used");
    assert.deepEqual(page.troubles, []);
  });
}

test("who leaves a card and goes through the list at once keeps the focus there", async () => {
  const holds = [await ask(0), await ask(1), await ask(2)];
  const page = await world.page();
  await page.goto(world.url(`/holds/${holds[2].id}`));
  await pressable(page, holds[2].id);
  await page.waitForFunction(() => document.querySelectorAll("[data-item]").length === 3);
  // Both keys come before the page has drawn what the first one changes: beside the list another card then takes its place.
  const went = await page.evaluate(() => {
    const press = (key) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    press("Escape");
    press("j");
    return document.activeElement.dataset.item;
  });
  assert.ok(holds.some((hold) => hold.id === went));
  await pressable(page, holds[0].id);
  assert.equal(await focusedHold(page), went);
  await page.keyboard.press("x");
  assert.ok(await page.locator(`[data-select="${went}"]`).isChecked(), "the row that one went to is the one that is selected");
  assert.deepEqual(page.troubles, []);
});
