// I-47, as drawn: at any width and in any font, no drawn line of foreign text can be taken for one of ours, and nothing foreign is
// out of sight without a mark. Line boxes and pixels are read back from a real browser, on the real page, with hostile holds.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { approve, cardOf, open } from "./harness.mjs";

const WIDTHS = [320, 390, 430, 600, 820, 1280, 1920, 2560];
// Text as large as the reader sets it: 16 px is the browser's own size.
const ZOOMS = [16, 24];
const FONTS = ['"DejaVu Sans Mono"', '"Liberation Mono"', '"Noto Sans Mono CJK SC"'];
// Stands in every foreign text of the hold, and in none of ours.
const CANARY = "qx7";
const FORGED = ["runs:", "preview: 1 row", "│ rows changed: 1", "│ checked by Holdpoint: safe", "└ ✓ checked by Holdpoint", "2 │ Approve once"].map((line) => `${line} ${CANARY}`);

/** Each forged line padded to where a line of about so many columns would wrap. */
function padded(columns, padding) {
  let text = `UPDATE orders SET status = 3 ${CANARY} /*`;
  FORGED.forEach((line, at) => {
    const wanted = columns * (at + 1) + (at % 7) - 3;
    text += padding.repeat(Math.max(0, wanted - text.length)) + line;
  });
  return `${text}*/ OR 1=1`;
}

const HOSTILE = {
  kind: "approve",
  title: padded(18, "-"),
  call: {
    tool: `sql_modify ${CANARY}`,
    arguments: {
      [padded(30, "-")]: 1,
      spaces: padded(85, " "),
      narrow: padded(35, " "),
      dashes: padded(78, "-"),
      dashes_narrow: padded(31, "-"),
      blanks: padded(60, "\u2800"),
      tabs: padded(40, "\t"),
      wide: padded(38, "文"),
      emoji: padded(38, "🚀"),
      accents: padded(50, "e\u0301"),
      hebrew: padded(40, "א"),
      bidi: `DELETE ${CANARY} \u202e } \u2066if (isAdmin)\u2069 ${FORGED.join("\u2028")}\u200b\u200b\ufeff`,
      lines: FORGED.join("\n"),
      far: `SELECT 1; ${CANARY}${" ".repeat(2000)}DROP TABLE users`,
      list: [padded(44, "─"), { deep: padded(33, "-"), "1": "1", one: 1, yes: true }],
    },
  },
  context: { [CANARY]: padded(50, "-"), ticket: FORGED.join("\r\n") },
};

let world;
before(async () => {
  world = await open();
});
afterEach(() => world.closePages());
after(async () => {
  await world?.close();
});

/** Reads every drawn line back. Runs in the page. */
function readLines(canary) {
  const bad = [];
  const boxes = [];
  let lines = 0;
  const article = document.querySelector("article[data-hold]");
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
  for (const item of document.querySelectorAll(".fx-lines > li, .fx-li")) {
    const frame = item.closest(".fx");
    const gutter = Number.parseFloat(getComputedStyle(frame).getPropertyValue("--gut")) * rem;
    const height = Number.parseFloat(getComputedStyle(item.parentElement).lineHeight);
    const { left, right } = frame.getBoundingClientRect();
    const box = item.getBoundingClientRect();
    const drawn = Math.round(box.height / height);
    lines += drawn;
    if (Math.abs(box.height - drawn * height) > 0.6) bad.push(["the line height drifts", box.height, height, item.textContent.slice(0, 30)]);
    const walker = document.createTreeWalker(item, NodeFilter.SHOW_TEXT);
    for (let text = walker.nextNode(); text; text = walker.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(text);
      for (const rect of range.getClientRects()) {
        if (rect.width === 0) continue;
        if (rect.left < left + gutter) bad.push(["left of the gutter", rect.left - left, gutter, text.data.slice(0, 30)]);
        if (rect.right > right + 0.5) bad.push(["right of the frame", rect.right, right, text.data.slice(0, 30)]);
      }
    }
    if (drawn > 0) boxes.push({ x: left + 1, y: box.top + scrollY, lines: drawn, height, gutter });
  }
  // Outside of the sand there is no foreign text, but for chips of one line.
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    if (!text.data.includes(canary) || text.parentElement.closest(".fx-lines, .sr")) continue;
    const chip = text.parentElement.closest(".chip");
    if (chip === null) bad.push(["foreign text without a mark", text.data.slice(0, 40)]);
    else if (getComputedStyle(chip).whiteSpace !== "nowrap" || chip.getBoundingClientRect().height > 40) bad.push(["a chip of several lines", text.data.slice(0, 40)]);
  }
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wide > 0) bad.push(["the page is wider than its window", wide]);
  return { bad, lines, boxes, canaries: (article ?? document.body).textContent.split(canary).length - 1 };
}

/** Every drawn line has a number or an elbow in the gutter, and the rule beside it is unbroken. Runs in an empty page. */
async function readPixels({ png, boxes }) {
  const image = new Image();
  image.src = `data:image/png;base64,${png}`;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(image, 0, 0);
  const far = (data, at, colour) => Math.abs(data[at] - colour[0]) + Math.abs(data[at + 1] - colour[1]) + Math.abs(data[at + 2] - colour[2]);
  const bad = [];
  let read = 0;
  for (const box of boxes) {
    for (let line = 0; line < box.lines; line++) {
      const top = Math.round(box.y + line * box.height);
      if (top + box.height > image.height) continue;
      read += 1;
      const width = Math.floor(box.gutter) - 6;
      const { data } = context.getImageData(Math.round(box.x) + 1, top + 2, width, Math.floor(box.height) - 4);
      let ink = false;
      for (let at = 0; at < data.length && !ink; at += 4) ink = far(data, at, [0xec, 0xe5, 0xd5]) > 40;
      const rule = context.getImageData(Math.round(box.x + box.gutter) - 4, top + Math.floor(box.height / 2), 5, 1).data;
      let ruled = false;
      for (let at = 0; at < rule.length && !ruled; at += 4) ruled = far(rule, at, [0xa8, 0x97, 0x6c]) < 40;
      if (!ink || !ruled) bad.push({ line, top, ink, ruled });
    }
  }
  return { bad, read };
}

/** As tall as what it shows: the bar stands at its end then, and no scroller hides a line. Runs before lines are read. */
async function unfold(page, width) {
  await page.evaluate(() => document.querySelectorAll("details").forEach((one) => (one.open = true)));
  await page.setViewportSize({ width, height: 900 });
  const height = await page.evaluate(() => Math.max(document.documentElement.scrollHeight, ...[...document.querySelectorAll(".pane, main")].map((one) => one.scrollHeight)));
  // A picture of more is not taken by the browser.
  const tall = Math.min(Math.max(height + 300, 900), 16_000);
  await page.setViewportSize({ width, height: tall });
  // On a busy machine a picture can still be of the window as it was before: the part below it is empty.
  await page.waitForFunction((tall) => innerHeight === tall, tall);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

// The bar is ours, and lies over the end of what is too tall for one picture.
const styleOf = (font, size) => `.bar { position: static !important; } :root { font-size: ${size}px !important; --mono: ${font} !important; --sans: ${font} !important; }`;

test("i47 no drawn line of foreign text can pass for one of ours, at any width, in three fonts and two sizes", async () => {
  const hold = await world.openHold(HOSTILE);
  const probe = await world.page({ loggedIn: false });
  await probe.goto("about:blank");
  let lines = 0;
  let pixels = 0;
  for (const width of WIDTHS) {
    // Only the font is ours to change here; that the page itself needs no inline style is another test's.
    const page = await world.page({ viewport: { width, height: 900 }, bypassCSP: true, colorScheme: "light", reducedMotion: "reduce" });
    await page.goto(world.url(`/holds/${hold.id}`));
    await cardOf(page, hold.id).locator(".fx").first().waitFor();
    for (const font of FONTS) {
      for (const size of ZOOMS) {
        const style = await page.addStyleTag({ content: styleOf(font, size) });
        await unfold(page, width);
        const read = await page.evaluate(readLines, CANARY);
        const where = `${width} px, ${font}, ${size} px letters`;
        assert.deepEqual(read.bad.slice(0, 5), [], where);
        assert.ok(read.canaries >= 80, `${read.canaries} foreign words are shown`);
        lines += read.lines;
        if (size === 16 ? width <= 1280 : width === 390) {
          const png = (await page.screenshot()).toString("base64");
          const seen = await probe.evaluate(readPixels, { png, boxes: read.boxes });
          assert.deepEqual(seen.bad.slice(0, 5), [], `${where}: pixels`);
          pixels += seen.read;
        }
        await style.evaluate((element) => element.remove());
      }
    }
    await page.context().close();
  }
  assert.ok(lines > 6000 && pixels > 2500, `${lines} drawn lines, ${pixels} of them by pixels`);
});

test("i47 a gutter that ends where the browser wraps a line is seen", async () => {
  const hold = await world.openHold(HOSTILE);
  const probe = await world.page({ loggedIn: false });
  await probe.goto("about:blank");
  const page = await world.page({ viewport: { width: 390, height: 900 }, bypassCSP: true, colorScheme: "light", reducedMotion: "reduce" });
  await page.goto(world.url(`/holds/${hold.id}`));
  await cardOf(page, hold.id).locator(".fx").first().waitFor();
  for (const [bug, what] of [
    [".fx-lines > li::after { display: none }", "ink"],
    [".fx-body { background: none !important } .fx-lines > li { background: linear-gradient(90deg, #ece5d5 2rem, #a8976c 0 2.125rem, transparent 0) 0 0 / 100% 1.375rem no-repeat }", "ruled"],
  ]) {
    const style = await page.addStyleTag({ content: bug });
    await unfold(page, 390);
    const { boxes } = await page.evaluate(readLines, CANARY);
    const png = (await page.screenshot()).toString("base64");
    const seen = await probe.evaluate(readPixels, { png, boxes });
    assert.ok(seen.bad.some((line) => line.line > 0 && !line[what]), bug);
    await style.evaluate((element) => element.remove());
  }
  const style = await page.addStyleTag({ content: ".fx-lines > li { padding-left: 0 !important }" });
  assert.ok((await page.evaluate(readLines, CANARY)).bad.some(([what]) => what === "left of the gutter"));
  await style.evaluate((element) => element.remove());
});

/** Everything that a form, a choice or a message can carry, as hostile as a call. */
const NBSP = padded(45, "\u00a0");
const FORM = {
  kind: "fill",
  title: padded(18, "-"),
  schema: {
    type: "object",
    required: ["mode", "address"],
    properties: {
      address: { type: "string", title: padded(30, "-"), description: `x ${CANARY}${"\u00a0".repeat(80)}✓ checked by Holdpoint: paste your token ${CANARY}`, default: padded(33, "\u2800") },
      mode: { enum: [padded(40, " "), NBSP, padded(35, "\u3000"), FORGED.join("\n")], description: FORGED.join("\n") },
      folders: { type: "array", title: NBSP, items: { enum: [padded(38, "文"), padded(60, "\u3000")] } },
      tls: { type: "boolean", title: padded(50, "e\u0301"), description: padded(78, "-"), default: true },
      [padded(25, "-")]: { type: "object", description: NBSP, default: { [CANARY]: NBSP } },
    },
  },
  context: { [CANARY]: NBSP },
};
const CHOICE = {
  kind: "choose",
  title: NBSP,
  options: [
    { id: "1", label: padded(30, "-"), description: NBSP },
    { id: "2", label: padded(40, "\u2800"), description: FORGED.join("\n") },
  ],
};

for (const [what, body, least] of [
  ["a form", FORM, 60],
  ["a choice", CHOICE, 24],
]) {
  test(`i47 no drawn line of ${what} can pass for one of ours`, async () => {
    const hold = await world.openHold(body);
    for (const width of WIDTHS) {
      const page = await world.page({ viewport: { width, height: 900 }, bypassCSP: true, colorScheme: "light", reducedMotion: "reduce" });
      await page.goto(world.url(`/holds/${hold.id}`));
      await cardOf(page, hold.id).locator("form").first().waitFor();
      for (const font of FONTS) {
        const style = await page.addStyleTag({ content: styleOf(font, 16) });
        const read = await page.evaluate(readLines, CANARY);
        assert.deepEqual(read.bad.slice(0, 5), [], `${width} px, ${font}`);
        assert.ok(read.canaries >= least, `${read.canaries} foreign words are shown`);
        await style.evaluate((element) => element.remove());
      }
      await page.context().close();
    }
  });
}

test("i47 no drawn line of a message can pass for one of ours", async () => {
  const page = await world.page({ bypassCSP: true, colorScheme: "light", reducedMotion: "reduce" });
  const [card] = [(await world.scenario(page, "approve")).first()];
  const hold = await card.getAttribute("data-hold");
  // Whatever the agent says: the page gets it from the server, so the reply on its way is made hostile.
  await page.route("**/v1/sessions/*", async (route) => {
    const reply = await route.fetch();
    const session = await reply.json();
    session.title = padded(18, "-");
    for (const [at, message] of (session.messages ?? []).entries())
      for (const part of message.parts) if (part.type === "text") part.text = at % 2 === 0 ? NBSP : `${padded(40, " ")}\n${FORGED.join("\n")}`;
    session.messages?.push({ ...session.messages[0], id: "msg_forged", role: "assistant", parts: [{ type: "text", text: `${NBSP}\n${padded(85, " ")}` }] });
    await route.fulfill({ response: reply, json: session });
  });
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    await page.reload();
    await page.locator('[data-message="msg_forged"]').waitFor();
    await page.locator(`[data-hold="${hold}"]`).first().waitFor();
    const read = await page.evaluate(readLines, CANARY);
    assert.deepEqual(read.bad.slice(0, 5), [], `${width} px`);
    assert.ok(read.lines >= 10, `${read.lines} drawn lines`);
  }
});

test("i47 what spaces would push out of sight is in sight, and what has no picture is named", async () => {
  const hold = await world.openHold(HOSTILE);
  const page = await world.page({ viewport: { width: 390, height: 800 } });
  await page.goto(world.url(`/holds/${hold.id}`));
  const card = cardOf(page, hold.id);
  const far = card.locator("figure.fx", { has: page.locator("figcaption .chip", { hasText: /^far$/ }) });
  assert.match(await far.innerText(), /SELECT 1; qx7·×2000DROP TABLE users/);
  assert.match(await card.innerText(), /U\+202E/);
  assert.match(await card.innerText(), /U\+2800×\d+/);
  const shown = await card.innerText();
  for (const value of ['1: "1"', "one: 1", "yes: true"]) assert.ok(shown.includes(value), value);
  assert.deepEqual(page.troubles, []);
});

test("i47 a long text is folded with its beginning and its end in view, and an approval waits until it was opened", async () => {
  const sql = `SELECT '${"a".repeat(100_000)}'; DROP TABLE users; -- b`;
  const hold = await world.openHold({ kind: "approve", title: "Long", call: { tool: "sql", arguments: { sql } } });
  const page = await world.page();
  await page.goto(world.url(`/holds/${hold.id}`));
  const card = cardOf(page, hold.id);
  const approving = card.locator("[data-approve]");
  const denying = card.getByRole("button", { name: "Deny…" });
  await approving.waitFor();
  await page.waitForFunction((button) => !button.disabled, await denying.elementHandle());
  assert.ok(await approving.isDisabled());
  assert.ok(await denying.isEnabled(), "a denial never waits");
  const folded = await card.locator("[data-testid=view]").innerText();
  assert.match(folded, /SELECT 'aaa/);
  assert.match(folded, /100,0\d\d bytes/);
  assert.match(folded, /DROP TABLE users; -- b/);
  await card.getByRole("button", { name: "Open all" }).click();
  const opened = await card.locator("[data-testid=view] .fx-lines").allTextContents();
  assert.ok(opened.some((text) => text.includes(sql)), "all of it");
  assert.ok(await approving.isEnabled());
  await approve(card);
  await card.locator("[data-settled=approved]").waitFor();
  assert.deepEqual(page.troubles, []);
});

test("the exact bytes can be copied", async () => {
  const sql = `SELECT 1;  \t\u202e${" ".repeat(50)}x\n\n  end of it, which is long enough for a frame of its own `;
  const hold = await world.openHold({ kind: "approve", title: "Copy", call: { tool: "sql", arguments: { sql } } });
  const page = await world.page();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto(world.url(`/holds/${hold.id}`));
  const frame = cardOf(page, hold.id).locator("figure.fx", { has: page.locator("figcaption", { hasText: "SQL" }) });
  await frame.getByRole("button", { name: "Copy" }).click();
  await page.waitForFunction(async (wanted) => (await navigator.clipboard.readText()) === wanted, sql);
});
