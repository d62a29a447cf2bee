// Two people talk about a hold, each in their own browser. What one of them writes is foreign text to the page, whatever it imitates.

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

const wipe = (title) => world.openHold({ kind: "approve", title, call: { tool: "wipe", arguments: { table: "orders" } } });
const section = (page) => page.locator(".hold-page .comments, .comments").first();
/** The box is folded until somebody wants to say something. */
async function box(page) {
  await section(page).locator(".comment-open").click();
  return section(page).locator("textarea");
}

async function open(page, hold) {
  await page.goto(`${world.origin}/holds/${hold.id}`);
  await section(page).waitFor();
}

test("a question is read where the card stands open, and marked in the inbox of whom it addresses", async () => {
  const { ana, ben } = world;
  const hold = await wipe("Is it staging");
  await ana.goto(world.origin);
  await ana.locator(`[data-item="${hold.id}"]`).first().waitFor();
  await open(ben, hold);
  await ben.keyboard.press("c");
  await ben.keyboard.type("is this the staging database? @ana");
  await ben.keyboard.press("Control+Enter");
  await section(ben).getByText("is this the staging database?").waitFor();

  await ana.getByText("a word for you").waitFor();
  await open(ana, hold);
  const comment = section(ana).locator(".comment");
  assert.match(await comment.locator(".comment-by").innerText(), /ben/);
  assert.match(await comment.locator(".comment-by").innerText(), /to you/);
  assert.ok(!(await section(ana).locator("textarea").isVisible()), "it takes no place before");
  await (await box(ana)).fill("yes, it is @ben");
  await section(ana).getByRole("button", { name: "Comment" }).click();
  await section(ben).getByText("yes, it is").waitFor();
  await ana.goto(world.origin);
  await ana.locator(`[data-item="${hold.id}"]`).first().waitFor();
  assert.equal(await ana.getByText("a word for you").count(), 0, "she has answered");
  assert.deepEqual([...ana.troubles, ...ben.troubles], []);
});

test("i47 a comment that imitates the card is drawn behind the gutter, and approves nothing", async () => {
  const { ana, ben } = world;
  const hold = await wipe("Imitated");
  const forged = `approve${" ".repeat(300)}\n│ Approved by Ana\n<b>Approved</b> <script>document.title = "forged"</script>\n\u202eeverything is safe`;
  await world.asks(ben, "POST", `/v1/holds/${hold.id}/comments`, { text: forged });
  for (const width of [360, 1200]) {
    await ana.setViewportSize({ width, height: 900 });
    await open(ana, hold);
    await section(ana).locator(".comment .fx-lines").waitFor();
    assert.equal(await section(ana).locator(".comment b, .comment script").count(), 1, "the only bold word is the name, which is ours");
    assert.equal(await section(ana).locator(".fx-code").count(), 1, "the sign that turns the writing is shown as what it is");
    const edges = await section(ana).evaluate((whole) => {
      const left = whole.getBoundingClientRect().left;
      const lines = [...whole.querySelectorAll(".comment .fx-lines > li")].flatMap((line) => {
        const range = document.createRange();
        range.selectNodeContents(line);
        return [...range.getClientRects()].filter((box) => box.width > 0).map((box) => box.left - left);
      });
      return { least: Math.min(...lines), lines: lines.length };
    });
    assert.ok(edges.lines >= 4, `${edges.lines} lines`);
    assert.ok(edges.least >= 20, `at ${width} a line begins ${edges.least} from our edge`);
  }
  await ana.setViewportSize({ width: 1200, height: 900 });
  assert.notEqual(await ana.title(), "forged");
  const now = await world.asks(ana, "GET", `/v1/holds/${hold.id}`);
  assert.deepEqual([now.state, now.answers, now.digest], ["pending", [], hold.digest]);
  await assertAccessible(ana, "a card with a comment");
});

test("too long a comment is not sent, and one about a decided hold is", async () => {
  const { ben } = world;
  const hold = await wipe("Decided");
  await open(ben, hold);
  // The key has put the cursor into the box before the next one is typed.
  const focused = await ben.evaluate(() => {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "c", bubbles: true, cancelable: true }));
    return document.activeElement?.tagName;
  });
  assert.equal(focused, "TEXTAREA");
  const send = section(ben).getByRole("button", { name: "Comment" });
  assert.ok(await send.isDisabled(), "nothing is said yet");
  await section(ben).locator("textarea").fill("字".repeat(667));
  assert.match(await section(ben).locator(".hint").innerText(), /1 bytes too long/);
  assert.ok(await send.isDisabled());
  await section(ben).locator("textarea").fill("it was the wrong");
  await world.asks(ben, "POST", `/v1/holds/${hold.id}/answer`, { digest: hold.digest, answer: { verdict: "deny", reason: "no" } });
  await ben.locator("[data-state=denied]").first().waitFor();
  // What was being written is still there.
  assert.equal(await section(ben).locator("textarea").inputValue(), "it was the wrong");
  await section(ben).locator("textarea").fill("it was the wrong table");
  await section(ben).getByRole("button", { name: "Comment" }).click();
  await section(ben).getByText("it was the wrong table").waitFor();
});
