// Views of the inbox that a person keeps: by name, on every device of theirs, and gone to by two keys.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertAccessible } from "./axe.mjs";
import { openTwo } from "./people.mjs";

let world;
before(async () => {
  world = await openTwo();
});
after(async () => {
  await world?.close();
});

test("a filter is kept under a name, found again elsewhere, renamed and let go", async () => {
  const { ana, ben } = world;
  await world.openHold({ kind: "approve", title: "Grave", risk: "high", call: { tool: "wipe", arguments: {} } });
  await world.openHold({ kind: "approve", title: "Harmless", risk: "low", call: { tool: "look", arguments: {} } });
  await ana.goto(world.origin);
  await ana.locator("[data-item]").nth(1).waitFor();
  assert.equal(await ana.locator("[data-views]").count(), 0, "there is nothing to keep yet");
  await ana.getByRole("button", { name: "High and up" }).click();
  await ana.keyboard.press("v");
  await ana.getByLabel("A name for this view").fill("Night shift");
  await ana.keyboard.press("Enter");
  const view = ana.locator("[data-view='Night shift']");
  await view.waitFor();
  assert.equal(await view.getAttribute("aria-current"), "true");

  // On the phone of the same person, and not on anybody else's.
  await ana.setViewportSize({ width: 390, height: 844 });
  await ana.goto(world.origin);
  await ana.locator("[data-item]").nth(1).waitFor();
  await view.click();
  await ana.waitForURL("**/?risk=high");
  await ana.waitForFunction(() => document.querySelectorAll("[data-item]").length === 1);
  await assertAccessible(ana, "an inbox with a view");
  await ben.goto(`${world.origin}/?risk=high`);
  await ben.locator("[data-views]").waitFor();
  assert.equal(await ben.locator("[data-view]").count(), 0);

  await ana.setViewportSize({ width: 1200, height: 900 });
  await ana.goto(world.origin);
  await view.waitFor();
  await ana.keyboard.press("g");
  await ana.keyboard.press("1");
  await ana.waitForURL("**/?risk=high");
  await ana.keyboard.press("v");
  const sheet = ana.locator("[data-sheet=views]");
  await assertAccessible(ana, "the sheet of views");
  await sheet.locator("input").fill("Grave ones");
  await sheet.getByRole("button", { name: "Rename" }).click();
  await ana.locator("[data-view='Grave ones']").waitFor();
  assert.equal(await view.count(), 0);
  await sheet.getByRole("button", { name: "Remove" }).click();
  await ana.locator("[data-view]").waitFor({ state: "detached" });
  assert.deepEqual((await world.asks(ana, "GET", "/v1/me/views")).items, []);
  assert.deepEqual(ana.troubles, []);
});
