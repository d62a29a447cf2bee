// I-47 beyond the open card: rows of the inbox and the history, the sheet for many, an edit, what was decided and what came of it,
// warnings, differences, files, sessions, the lists of the administration, and all of it in the dark.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { CANARY, FORGED, HOSTILE, padded, readLines, readPixels, unfold } from "./drawn.mjs";
import { cardOf, open } from "./harness.mjs";

const WIDTHS = [320, 768, 1280];
const LONG = padded(40, " ");
const BLANKS = padded(45, "\u00a0");
const LINES = FORGED.join("\n");
const BIDI = `${CANARY} \u202e ${FORGED.join("\u2028")}\u200b\u200b`;

let world;
before(async () => {
  world = await open();
});
afterEach(() => world.closePages());
after(async () => {
  await world?.close();
});

const pageAt = (width, colorScheme = "light") => world.page({ viewport: { width, height: 900 }, bypassCSP: true, colorScheme, reducedMotion: "reduce" });

/** Nothing drawn on the page as it stands can pass for ours; so many foreign words at least are there. */
async function assertMarked(page, where, least) {
  const read = await page.evaluate(readLines, CANARY);
  assert.deepEqual(read.bad.slice(0, 5), [], where);
  const words = await page.evaluate((canary) => document.body.textContent.split(canary).length - 1, CANARY);
  assert.ok(words >= least, `${where}: ${words} foreign words are shown`);
}

/** Somebody who asks as hostile as one can, of every kind. */
async function openAll() {
  const asked = { ...HOSTILE, preview: { diff: `--- a/${BIDI}\n+++ b/x\n@@ -1 +1 @@\n-${padded(60, "-")}\n+${BLANKS}\n ${LINES}` } };
  const holds = [await world.openHold(asked), await world.openHold({ ...asked, title: BLANKS }), await world.openHold({ ...asked, title: LINES })];
  holds.push(await world.openHold({ kind: "choose", title: BIDI, options: [{ id: "1", label: LONG }, { id: "2", label: "b" }] }));
  return holds;
}

const answer = (hold, said) => world.api("POST", `/v1/holds/${hold.id}/answer`, { digest: hold.digest, answer: said });

test("i47 rows of the inbox, the sheet for many and an edit", async () => {
  const holds = await openAll();
  for (const width of WIDTHS) {
    const page = await pageAt(width);
    await page.goto(world.url("/"));
    await page.locator(`[data-item="${holds[0].id}"]`).waitFor();
    await assertMarked(page, `inbox, ${width} px`, 6);
    await page.getByLabel("Search").fill(CANARY);
    await page.locator(`[data-item="${holds[0].id}"]`).waitFor();
    for (const hold of holds.slice(0, 3)) await page.locator(`[data-select="${hold.id}"]`).check({ force: true });
    await page.locator(".bulk-go").click();
    await page.locator("[data-bulk-send]").waitFor();
    await assertMarked(page, `the sheet for many, ${width} px`, 60);
    await page.goto(world.url(`/holds/${holds[0].id}`));
    await cardOf(page, holds[0].id).locator(".bar-in button.danger:not([disabled])").waitFor();
    await page.keyboard.press("e");
    await page.locator("[data-edit]").waitFor();
    await page.locator("[data-edit] textarea").first().fill(`${LONG} changed`);
    await page.locator("[data-look]").waitFor();
    await assertMarked(page, `an edit, ${width} px`, 20);
    await page.context().close();
  }
  for (const hold of holds) await answer(hold, { verdict: "deny" });
});

test("i47 what was decided, what came of it, and the rows of the history", async () => {
  const [approved, denied, changed, chosen] = await openAll();
  await answer(approved, { verdict: "approve", note: LONG });
  await world.api("POST", `/v1/holds/${approved.id}/outcome`, { state: "succeeded", result: { [BLANKS]: [LINES, { [CANARY]: BIDI }] } }, world.ready.program_token);
  await answer(denied, { verdict: "deny", reason: `${LONG}\n${BLANKS}` });
  await answer(chosen, { choose: ["1"] });
  await world.api("POST", `/v1/holds/${changed.id}/cancel`, { reason: `${LINES}\n${LONG}` }, world.ready.program_token);
  for (const width of WIDTHS) {
    const page = await pageAt(width);
    for (const hold of [approved, denied, changed, chosen]) {
      await page.goto(world.url(`/holds/${hold.id}`));
      await cardOf(page, hold.id).locator("[data-settled]").waitFor();
      await page.evaluate(() => document.querySelectorAll("details").forEach((one) => (one.open = true)));
      await assertMarked(page, `${hold.kind} after the decision, ${width} px`, 4);
    }
    await page.goto(world.url("/history"));
    await page.locator(`[data-item="${approved.id}"]`).waitFor();
    await assertMarked(page, `history, ${width} px`, 3);
    await page.context().close();
  }
});

test("i47 warnings, a channel's error, names of files and a failed run", async () => {
  const hold = await world.openHold(HOSTILE);
  const session = await world.api("POST", "/v1/sessions", { agent: world.ready.agent, title: LONG });
  const file = { type: "file", file: "file_01jd0000000000000000000000", name: `${padded(30, " ")} \u202etxt.exe`, mediaType: "text/plain", bytes: 5, digest: `sha256:${"0".repeat(64)}` };
  for (const width of WIDTHS) {
    const page = await pageAt(width);
    await page.route(/\/v1\/holds(\?|\/hold_\w+$)/, async (route) => {
      const reply = await route.fetch();
      const all = await reply.json();
      const told = all.items?.find((one) => one.id === hold.id) ?? all;
      if (told.id !== hold.id) return route.fulfill({ response: reply, json: all });
      told.undelivered = [{ to: "ana", channel: "chat", why: `${LONG}\n${BLANKS}`, at: told.opened_at }];
      for (const code of ["look_alike", "tool_said", "no_preview"]) told.view.parts.push({ type: "warning", by: "tool", code, text: { bytes: 200, lines: [[LONG], [padded(70, "-")]] }, lines: [[LONG]] });
      return route.fulfill({ response: reply, json: all });
    });
    await page.goto(world.url(`/holds/${hold.id}`));
    await cardOf(page, hold.id).locator(".undelivered").waitFor();
    await assertMarked(page, `warnings, ${width} px`, 20);
    await page.route(`**/v1/sessions/${session.id}`, async (route) => {
      const reply = await route.fetch();
      const told = await reply.json();
      told.run = { id: "run_01jd0000000000000000000000", status: "failed", error: `${LONG}\n${LINES}`, usage: null };
      told.messages = [{ id: "msg_a", role: "user", parts: [{ type: "text", text: LONG }, file] }, { id: "msg_b", role: "assistant", parts: [{ type: "text", text: BIDI }, file] }];
      await route.fulfill({ response: reply, json: told });
    });
    await page.goto(world.url(`/sessions/${session.id}`));
    await page.locator("[data-run=failed]").waitFor();
    await page.locator("[data-file]").first().waitFor();
    await assertMarked(page, `a session with files, ${width} px`, 10);
    await page.context().close();
  }
});

/** Every word of a list that is not ours or the configuration's. */
const THEIRS = new Set(["title", "tool", "covers", "why", "note", "description", "program", "reason", "account", "label", "summary", "rule_text"]);

function hostile(value, key = "") {
  if (typeof value === "string") return THEIRS.has(key) ? `${LONG}\n${BIDI}` : value;
  if (Array.isArray(value)) return value.map((one) => hostile(one, key));
  if (value !== null && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, hostile(inner, name)]));
  return value;
}

test("i47 the lists of the administration", async () => {
  // Something for each list: a grant, a token, a decision for the figures and the log.
  const session = await world.api("POST", "/v1/sessions", { agent: world.ready.agent, title: "grant" });
  await world.api("POST", `/v1/sessions/${session.id}/messages`, { text: "Delete the abandoned orders." });
  const hold = await world.holdOf(session.id);
  await answer(hold, { verdict: "approve", scope: "session" });
  for (const width of WIDTHS) {
    const page = await pageAt(width);
    await page.route(/\/v1\/(grants|tokens|agents|tools|channels|figures|audit|people)/, async (route) => {
      const reply = await route.fetch();
      const told = hostile(await reply.json());
      if (route.request().url().includes("/channels")) told.items = [{ name: "chat", platform: "slack", talks: true, last_errors: [{ at: "2026-01-01T00:00:00Z", hold: hold.id, to: "ana", why: `${LONG}\n${LINES}` }] }];
      await route.fulfill({ response: reply, json: told });
    });
    for (const tab of ["grants", "people", "tokens", "agents", "channels", "audit", "figures"]) {
      await page.goto(world.url(`/admin/${tab}`));
      await page.locator(".admin-panel").first().waitFor();
      await page.waitForFunction(() => document.querySelector(".admin-panel :is(tr[data-grant], tr[data-person], tr[data-token], tr[data-tool], [data-channel], [data-seq], [data-testid=figures])"));
      await page.evaluate(() => document.querySelectorAll("details").forEach((one) => (one.open = true)));
      await assertMarked(page, `${tab}, ${width} px`, tab === "people" ? 0 : 2);
    }
    await page.context().close();
  }
});

test("i47 in the dark every drawn line has its mark, too", async () => {
  const hold = await world.openHold(HOSTILE);
  const probe = await world.page({ loggedIn: false });
  await probe.goto("about:blank");
  let pixels = 0;
  for (const width of WIDTHS) {
    const page = await pageAt(width, "dark");
    await page.goto(world.url(`/holds/${hold.id}`));
    await cardOf(page, hold.id).locator(".fx").first().waitFor();
    const style = await page.addStyleTag({ content: ".bar { position: static !important; }" });
    await unfold(page, width);
    const read = await page.evaluate(readLines, CANARY);
    assert.deepEqual(read.bad.slice(0, 5), [], `${width} px`);
    const colours = await page.evaluate(() => {
      const told = getComputedStyle(document.documentElement);
      const rgb = (name) => [1, 3, 5].map((at) => Number.parseInt(told.getPropertyValue(name).trim().slice(at, at + 2), 16));
      return { gutter: rgb("--sand-gutter"), rule: rgb("--sand-rule") };
    });
    const seen = await probe.evaluate(readPixels, { png: (await page.screenshot()).toString("base64"), boxes: read.boxes, ...colours });
    assert.deepEqual(seen.bad.slice(0, 5), [], `${width} px: pixels`);
    pixels += seen.read;
    await style.evaluate((element) => element.remove());
    await page.context().close();
  }
  assert.ok(pixels > 300, `${pixels} lines by pixels`);
});
