// What the page weighs, and how soon it can be used on a slow machine.

import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { after, before, test } from "node:test";
import { open } from "./harness.mjs";

const SCRIPT_BYTES_MOST = 110_000;
const READY_MS_MOST = 1000;
const SLOWER = 4;

let world;
before(async () => {
  world = await open();
});
after(async () => {
  await world?.close();
});

test("all script together is at most 110 kB, compressed", async () => {
  const assets = join(process.env.HOLDPOINT_DIST ?? new URL("../dist", import.meta.url).pathname, "assets");
  let bytes = 0;
  for (const name of await readdir(assets)) if (name.endsWith(".js")) bytes += gzipSync(await readFile(join(assets, name)), { level: 9 }).length;
  console.log(`script: ${bytes} bytes`);
  assert.ok(bytes <= SCRIPT_BYTES_MOST, `${bytes} bytes`);
});

test("with a processor four times slower the inbox can be used within a second", async () => {
  for (let at = 0; at < 40; at++) await world.openHold({ kind: "approve", title: `Number ${at}`, call: { tool: "web_test_tool", arguments: { at } } });
  // Time on the processor and not by the clock, and the least of three: what other programs on the machine cost is not the page's.
  const spent = Math.min(await workUntilReady(), await workUntilReady(), await workUntilReady());
  console.log(`work until the inbox is there: ${spent} ms, ${SLOWER} times slower ${spent * SLOWER} ms`);
  assert.ok(spent * SLOWER <= READY_MS_MOST, `${spent} ms`);
});

test("by the clock, with a processor four times slower: how soon the inbox can be used", async () => {
  // Told and not judged: what else runs on the machine is in it. The least of five is the page's, and stands in docs/decisions/0022.
  const took = [];
  for (let round = 0; round < 5; round += 1) {
    const page = await world.page();
    const slow = await page.context().newCDPSession(page);
    await slow.send("Emulation.setCPUThrottlingRate", { rate: SLOWER });
    // Ready is what the page itself can tell: the list is drawn, the card beside it has come, and what is pressed is taken.
    await page.addInitScript(() => {
      new MutationObserver(() => {
        if (document.querySelectorAll("[data-item]").length > 20) window.listed ??= performance.now();
        if (document.querySelector("[data-approve]:not([disabled])")) window.decidable ??= performance.now();
      }).observe(document, { childList: true, subtree: true, attributes: true });
    });
    await page.goto(world.url("/"));
    await page.waitForFunction(() => window.listed && window.decidable);
    took.push(await page.evaluate(() => [Math.round(window.listed), Math.round(window.decidable)]));
    await world.closePages();
  }
  const best = (at) => Math.min(...took.map((one) => one[at]));
  console.log(`${SLOWER} times slower, by the clock: the inbox after ${best(0)} ms, a decision after ${best(1)} ms (${JSON.stringify(took)})`);
  assert.ok(took.every(([listed, decidable]) => listed > 0 && decidable > listed), JSON.stringify(took));
});

async function workUntilReady() {
  const page = await world.page();
  await world.browser.startTracing(page, { categories: ["toplevel", "disabled-by-default-devtools.timeline", "__metadata"] });
  await page.goto(world.url("/"), { waitUntil: "commit" });
  await page.locator("[data-item]").nth(20).waitFor();
  const { traceEvents } = JSON.parse((await world.browser.stopTracing()).toString());
  const main = new Set(traceEvents.filter((one) => one.name === "thread_name" && one.args.name === "CrRendererMain").map((one) => `${one.pid}/${one.tid}`));
  const tasks = traceEvents.filter((one) => one.name === "RunTask" && one.tdur !== undefined && main.has(`${one.pid}/${one.tid}`));
  assert.ok(tasks.length > 0, "tasks were traced");
  await world.closePages();
  return Math.round(tasks.reduce((sum, one) => sum + one.tdur, 0) / 1000);
}
