// The rules of WCAG 2.2 (A and AA), asked of the page as it stands.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";

const source = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Asserts that nothing on the page breaks a rule. The content security policy forbids injected scripts, so axe comes through the debugger. */
export async function assertAccessible(page, where) {
  await page.evaluate(source);
  const found = await page.evaluate(() =>
    window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], resultTypes: ["violations"] }),
  );
  const told = found.violations.map((one) => `${one.id}: ${one.help}\n${one.nodes.slice(0, 4).map((node) => `    ${node.target.join(" ")}  ${node.html.slice(0, 160)}\n    ${node.failureSummary?.split("\n").slice(1).join(" ")}`).join("\n")}`);
  assert.equal(found.violations.length, 0, `${where}:\n${told.join("\n")}`);
}
