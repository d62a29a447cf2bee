// I-47, as drawn: at any width and in any font, no drawn line of foreign text can be taken for one of ours, and nothing foreign is
// out of sight without a mark. Line boxes and pixels are read back from a real browser, on the real page, with hostile holds.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { CANARY, FORGED, HOSTILE, padded, readLines, readPixels, styleOf, unfold } from "./drawn.mjs";
import { approve, cardOf, open } from "./harness.mjs";

const WIDTHS = [320, 390, 430, 600, 820, 1280, 1920, 2560];
// Text as large as the reader sets it: 16 px is the browser's own size.
const ZOOMS = [16, 24];
const FONTS = ['"DejaVu Sans Mono"', '"Liberation Mono"', '"Noto Sans Mono CJK SC"'];

let world;
before(async () => {
  world = await open();
});
afterEach(() => world.closePages());
after(async () => {
  await world?.close();
});

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

/** Rules that a form cannot show and only the server holds an answer to. Each is the asker's own words. */
const RULES = {
  kind: "fill",
  title: "Release",
  schema: {
    type: "object",
    required: ["ticket", "target"],
    properties: {
      ticket: { type: "string", title: "Ticket", pattern: `^${FORGED.join("\n")}\u202e\u200b\u2066$` },
      target: { type: "string", title: "Target", allOf: [{ enum: [padded(40, "-"), NBSP, `✓ checked by Holdpoint ${CANARY}\u202e`, "x".repeat(20_000) + CANARY] }] },
      rest: { type: "string", title: "Rest", anyOf: [{ const: FORGED.join("\n") }, { pattern: padded(60, " ") }] },
      [FORGED.join("\n")]: { type: "string", title: "Odd", pattern: `^${CANARY}$`, default: "z" },
    },
    not: { required: ["ticket"], title: padded(30, "-") },
  },
};

for (const colorScheme of ["light", "dark"]) {
  test(`i47 what a refused answer is told has no word of the form's rules: ${colorScheme}`, async () => {
    const hold = await world.openHold(RULES);
    for (const width of [320, 768, 1280]) {
      const page = await world.page({ viewport: { width, height: 900 }, bypassCSP: true, colorScheme, reducedMotion: "reduce" });
      await page.goto(world.url(`/holds/${hold.id}`));
      const card = cardOf(page, hold.id);
      for (const name of ["ticket", "target", "rest"]) await card.locator(`[data-field=${name}] input`).fill("x");
      await card.locator(".bar-in button.primary:not([disabled])").click();
      await card.locator(".refusal[data-code=answer_invalid]").waitFor();
      for (const name of ["ticket", "target", "rest"]) assert.notEqual(await card.locator(`[data-field=${name}] .field-error`).innerText(), "");
      const told = await card.locator(".field-error, .refusal").allInnerTexts();
      for (const text of told) assert.ok(!/[\u202a-\u202e\u2066-\u2069\u200b]/.test(text) && text.length < 2000, text);
      for (const text of await card.locator(".field-error").allInnerTexts()) assert.ok(!text.includes(CANARY), text);
      const read = await page.evaluate(readLines, CANARY);
      assert.deepEqual(read.bad.slice(0, 5), [], `${width} px`);
      await page.context().close();
    }
  });
}

test("i47 what a tool says of an edited call, or a server of anything, stands on sand", async () => {
  const hold = await world.openHold({ kind: "approve", title: "Scale", call: { tool: "web_test_tool", arguments: { nodes: 12 } } });
  for (const [code, width] of [["answer_invalid", 320], ["answer_invalid", 1280], ["something_new", 768], ["frozen", 390]]) {
    const page = await world.page({ viewport: { width, height: 900 }, bypassCSP: true, colorScheme: "light", reducedMotion: "reduce" });
    const problem = { status: 422, code, field: "arguments", detail: `${padded(40, " ")}\n${NBSP}\n${FORGED.join("\u2028")}\u202e\u200b` };
    await page.route(`**/v1/holds/${hold.id}/answer`, (route) => route.fulfill({ status: 422, contentType: "application/problem+json", json: problem }));
    await page.goto(world.url(`/holds/${hold.id}`));
    const card = cardOf(page, hold.id);
    await card.locator("[data-approve]:not([disabled])").click();
    await card.locator(`.refusal[data-code=${code}] .fx`).waitFor();
    assert.match(await card.locator(".refusal").innerText(), /U\+202E/);
    const read = await page.evaluate(readLines, CANARY);
    assert.deepEqual(read.bad.slice(0, 5), [], `${code}, ${width} px`);
    await page.context().close();
  }
});

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
