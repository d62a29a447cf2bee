// The rules of WCAG 2.2 (A and AA), asked of the page as it stands.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";

const source = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Asserts that nothing on the page breaks a rule. The content security policy forbids injected scripts, so axe comes through the debugger. */
export async function assertAccessible(page, where) {
  await stillness(page);
  await page.evaluate(source);
  const found = await page.evaluate(() =>
    window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], resultTypes: ["violations"] }),
  );
  const told = found.violations.map((one) => `${one.id}: ${one.help}\n${one.nodes.slice(0, 4).map((node) => `    ${node.target.join(" ")}  ${node.html.slice(0, 160)}\n    ${node.failureSummary?.split("\n").slice(1).join(" ")}`).join("\n")}`);
  assert.equal(found.violations.length, 0, `${where}:\n${told.join("\n")}`);
}

/** What is half faded in has half its contrast. Animations without an end (what turns while one waits) are not waited for. */
const stillness = (page) =>
  page.evaluate(async () => {
    const moving = () => document.getAnimations().filter((one) => one.playState === "running" && one.effect?.getComputedTiming().endTime !== Infinity);
    const end = Date.now() + 60_000;
    while (moving().length > 0) {
      const names = moving().map((one) => `${one.animationName ?? one.transitionProperty} on ${one.effect?.target?.className}`);
      if (Date.now() > end) throw new Error(`still moving after a minute: ${names.join(", ")}`);
      await Promise.race([Promise.allSettled(moving().map((one) => one.finished)), new Promise((done) => setTimeout(done, 1000))]);
    }
  });
