// The list of what waits, the keys that go through it, who asked, and the way in for somebody who is not logged in.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { cardOf, open } from "./harness.mjs";

let world;
before(async () => {
  world = await open();
});
afterEach(() => world.closePages());
after(async () => {
  await world?.close();
});

const call = { tool: "web_test_tool", arguments: { path: "report.txt" } };
const deny = (hold) => world.api("POST", `/v1/holds/${hold.id}/answer`, { digest: hold.digest, answer: { verdict: "deny" } });

test("a program asks under its own name, and the page says for whom", async () => {
  const hold = await world.openHold({ kind: "approve", title: "Who asks?", call });
  assert.ok(hold.asked_by.program, "the program's own name");
  assert.equal(hold.asked_by.on_behalf_of, hold.requester);
  const page = await world.page();
  await page.goto(world.url(`/holds/${hold.id}`));
  const card = cardOf(page, hold.id);
  const asked = await card.locator("[data-fact='hold.asked_by']").innerText();
  assert.ok(asked.includes(hold.asked_by.program), asked);
  assert.match(asked, /program, asked/);
  if (hold.asked_by.on_behalf_of) assert.match(asked, /for /);
  assert.match(await card.locator(".about-hold").innerText(), /Who may answer[\s\S]+Waiting for a decision/);
  await deny(hold);
});

test("j goes on to the next hold that waits, past those that were settled", async () => {
  const holds = [];
  for (const title of ["first", "second", "third"]) holds.push(await world.openHold({ kind: "approve", title, call }));
  const page = await world.page();
  await page.goto(world.url(`/holds/${holds[2].id}`));
  for (const hold of holds) await page.locator(`[data-item="${hold.id}"]`).waitFor();
  // The one that is open settles: its card says so, and the list holds only what waits.
  await deny(holds[2]);
  await cardOf(page, holds[2].id).locator("[data-settled=denied]").waitFor();
  await page.locator(`[data-item="${holds[2].id}"]`).waitFor({ state: "detached" });
  const order = await page.locator("[data-item]").evaluateAll((all) => all.map((one) => one.dataset.item));
  assert.deepEqual([...order].sort(), [holds[0].id, holds[1].id].sort());
  const focused = () => page.evaluate(() => document.activeElement.dataset.item);
  await page.keyboard.press("j");
  assert.equal(await focused(), order[0]);
  await page.keyboard.press("j");
  assert.equal(await focused(), order[1]);
  await page.keyboard.press("j");
  assert.equal(await focused(), order[1], "the last one that waits");
  await page.keyboard.press("k");
  assert.equal(await focused(), order[0]);
  for (const hold of holds.slice(0, 2)) await deny(hold);
});

test("a row shows whose call it is, however long its verb, at a desk and on a phone", async () => {
  const hold = await world.openHold({ kind: "approve", title: "Restart the third web server of the shop", call: { tool: "web_test_tool", arguments: { at: 3 } } });
  for (const viewport of [{ width: 1280, height: 900 }, { width: 390, height: 844 }]) {
    for (const locale of ["en-US", "zh-CN"]) {
      const page = await world.page({ viewport, locale });
      await page.goto(world.url("/"));
      const title = page.locator(`[data-item="${hold.id}"] .row-title`);
      await title.waitFor();
      const { wide, inside } = await title.evaluate((line) => {
        const [row, chip] = [line, line.querySelector(".chip")].map((one) => one.getBoundingClientRect());
        return { wide: chip.width, inside: chip.right <= row.right + 1 };
      });
      // A box that does not fit as a whole would be left out for three dots.
      assert.ok(inside && wide >= 120, `${viewport.width}, ${locale}: ${wide} px, ${inside}`);
      await page.context().close();
    }
  }
  await world.api("POST", `/v1/holds/${hold.id}/answer`, { digest: hold.digest, answer: { verdict: "deny" } });
});

test("the badge counts everything that waits, and not only the first page", async () => {
  const holds = [];
  for (let at = 0; at < 55; at++) holds.push(await world.openHold({ kind: "approve", title: `Number ${at}`, call }));
  const page = await world.page();
  await page.goto(world.url("/"));
  const { items } = await world.api("GET", "/v1/holds?state=pending&limit=100");
  await page.waitForFunction((count) => document.querySelector(".inbox .count")?.textContent === String(count), items.length);
  assert.ok(items.length >= 55);
  assert.equal(await page.title(), `(${items.length}) Holdpoint`);
  for (const hold of holds) await deny(hold);
});

test("whoever is not logged in can ask for a link, which leads back to the hold", async () => {
  const hold = await world.openHold({ kind: "approve", title: "Come back to me", call });
  const page = await world.page({ loggedIn: false });
  let asked = null;
  await page.route("**/login/link", (route) => {
    asked = route.request().postDataJSON();
    return route.fulfill({ status: 202, json: { detail: "the same words for everybody" } });
  });
  await page.goto(world.url(`/holds/${hold.id}`));
  await page.getByLabel("Your id or name here").fill("ana");
  await page.getByRole("button", { name: "Send me a link" }).click();
  await page.getByText("a link is on its way").waitFor();
  assert.deepEqual(asked, { person: "ana", next: `/holds/${hold.id}` });
  assert.doesNotMatch(await page.innerText("body"), /Come back to me/);
  await deny(hold);
});

test("a login link that knows nothing of it still leads to the hold one wanted, and the waiting tab goes on by itself", async () => {
  const hold = await world.openHold({ kind: "approve", title: "Wanted before the login", call });
  const page = await world.page({ loggedIn: false });
  await page.goto(world.url(`/holds/${hold.id}`));
  await page.getByRole("heading", { name: "Log in to decide" }).waitFor();
  assert.doesNotMatch(await page.innerText("body"), /Wanted before the login/);
  // A hold that does not exist looks the same: strangers learn nothing.
  const stranger = await world.page({ loggedIn: false });
  await stranger.goto(world.url("/holds/hold_00000000000000000000000000"));
  await stranger.getByRole("heading", { name: "Log in to decide" }).waitFor();
  assert.equal(await stranger.innerText("body"), await page.innerText("body"));
  const { url } = await world.api("POST", "/v1/logins", { person: "ana" });
  const other = await page.context().newPage();
  await other.goto(url);
  await other.click("button");
  await other.waitForURL(`**/holds/${hold.id}`);
  await cardOf(other, hold.id).waitFor();
  await cardOf(page, hold.id).waitFor();
  await deny(hold);
});
