// A model's Markdown is drawn by us and never as HTML, and a session says where its time went.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { approve, completed, open } from "./harness.mjs";

let world;
before(async () => {
  world = await open();
});
afterEach(() => world.closePages());
after(async () => {
  await world?.close();
});

/** A finished session whose model wrote `text`. */
async function sessionThatSays(text, options = {}) {
  const page = await world.page(options);
  const cards = await world.scenario(page, "approve");
  await approve(cards.first());
  await completed(page);
  const id = new URL(page.url()).pathname.split("/").at(-1);
  await page.route(`**/v1/sessions/${id}`, async (route) => {
    const reply = await route.fetch();
    const session = await reply.json();
    session.messages.push({ ...session.messages[0], id: "msg_written", role: "assistant", parts: [{ type: "text", text }] });
    return route.fulfill({ response: reply, json: session });
  });
  await page.reload();
  const message = page.locator('[data-message="msg_written"]');
  await message.waitFor();
  return { page, message };
}

test("Markdown is drawn: lists, tables, code, emphasis", async () => {
  const { message } = await sessionThatSays("# Found\n\nI looked at `orders`:\n\n| status | worth |\n|---|---|\n| 1 | 11,402.30 |\n\n- none has an **invoice**\n- oldest: *August*\n\n```sql\nSELECT 1\n```\n\n> quoted\n\n1. one\n2. two");
  const md = message.locator(".md");
  await md.waitFor();
  assert.equal(await md.locator("h1, h2, h3, h4").count(), 0, "a model writes no headings of the page");
  assert.equal(await md.locator(".md-title").innerText(), "Found");
  assert.equal(await md.locator("table td").nth(1).innerText(), "11,402.30");
  assert.equal(await md.locator("ul li").count(), 2);
  assert.equal(await md.locator("ol li").count(), 2);
  assert.equal(await md.locator("strong").innerText(), "invoice");
  assert.match(await md.locator("pre").innerText(), /SELECT 1/);
  assert.equal(await md.locator("blockquote").innerText(), "quoted");
});

test("nothing that a model writes becomes HTML, a picture or a hidden address", async () => {
  const hostile = [
    "**bold** <img src=x onerror=alert(1)> <script>alert(2)</script>",
    "",
    "<h1>Approved by Holdpoint</h1>",
    "",
    "![a picture](https://evil.example/pixel.png)",
    "",
    "[safe site](javascript:alert(3)) and [your bank](https://evil.example/login) and [file](file:///etc/passwd)",
    "",
    "hidden\u200b\u202eletters",
  ].join("\n");
  const { page, message } = await sessionThatSays(hostile);
  const md = message.locator(".md");
  await md.waitFor();
  assert.equal(await md.locator("img, script, h1, iframe, object").count(), 0);
  assert.deepEqual(await md.locator("a").evaluateAll((all) => all.map((one) => [one.href, one.rel, one.textContent])), [["https://evil.example/login", "noopener noreferrer nofollow", "(https://evil.example/login)"]]);
  const said = await md.innerText();
  for (const shown of ["<img src=x", "<h1>Approved by Holdpoint</h1>", "![a picture]", "javascript:alert(3)", "U+200B", "U+202E"]) assert.ok(said.includes(shown), `${shown} in ${said}`);
  assert.deepEqual(page.troubles, []);
});

test("i47 no drawn line of Markdown begins at our edge, at any width", async () => {
  const spaces = " ".repeat(90);
  const hostile = `# title${spaces}rows changed: 1\n\n- a${spaces}checked by Holdpoint: safe\n\n    indented ${spaces}Approve\n\n| a | b |\n|---|---|\n| x${spaces}y | ${"w".repeat(400)} |\n\n> q\n\n${"long ".repeat(80)}**b**`;
  const { page } = await sessionThatSays(hostile);
  for (const width of [320, 390, 768, 1280, 2560]) {
    await page.setViewportSize({ width, height: 800 });
    await page.locator(".md").waitFor();
    const bad = await page.locator(".md").evaluate((md) => {
      const edge = md.getBoundingClientRect();
      const rule = Number.parseFloat(getComputedStyle(md).borderLeftWidth);
      const walker = document.createTreeWalker(md, NodeFilter.SHOW_TEXT);
      const found = [];
      for (let text = walker.nextNode(); text; text = walker.nextNode()) {
        const range = document.createRange();
        range.selectNodeContents(text);
        for (const rect of range.getClientRects()) if (rect.width > 0 && rect.left < edge.left + rule + 4) found.push([text.data.slice(0, 20), rect.left - edge.left]);
      }
      return { found, rule, wide: document.documentElement.scrollWidth - innerWidth };
    });
    assert.deepEqual(bad.found, [], `at ${width}`);
    assert.ok(bad.rule >= 4, "the rule at the edge is there");
    assert.ok(bad.wide <= 0, `${bad.wide} px too wide at ${width}`);
  }
});

test("what would exhaust the reader of Markdown is shown as plain text", async () => {
  const { page, message } = await sessionThatSays(`**b** ${"> ".repeat(3000)}deep\n\n${">".repeat(3000)} deeper`);
  await message.locator(".fx-lines").waitFor();
  assert.match(await message.innerText(), /deeper/);
  assert.deepEqual(page.troubles, []);
});

test("a session says where its time went", async () => {
  const page = await world.page();
  const cards = await world.scenario(page, "approve");
  await page.waitForTimeout(2200);
  await approve(cards.first());
  await completed(page);
  const chart = page.locator("[data-testid=run-time]");
  await chart.waitFor();
  const words = await chart.innerText();
  const waited = Number(/of which (\d+) s waiting/.exec(words)?.[1]);
  assert.ok(waited >= 2, words);
  assert.ok((await chart.locator("rect.run-people").count()) >= 2, "a bar and its legend");
});
