// The way of a screen reader: what is told of the inbox, of a row, of the card and its parts, what is said when a decision is made, and
// where one then is. Read from the accessibility tree and walked with the keyboard alone, in both languages.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { cardOf, open } from "./harness.mjs";

let world;
before(async () => {
  world = await open();
});
afterEach(async () => {
  await world.closePages();
  for (const hold of (await world.api("GET", "/v1/holds?state=pending&limit=100")).items) await world.api("POST", `/v1/holds/${hold.id}/answer`, { digest: hold.digest, answer: { verdict: "deny" } });
});
after(async () => {
  await world?.close();
});

const ask = (unit, more) => world.openHold({ kind: "approve", title: `Restart ${unit}`, call: { tool: "restart_unit", arguments: { unit } }, ...more });

const WORDS = {
  English: {
    locale: "en-US",
    skip: "Skip to content",
    list: "Waiting for you",
    pane: "Reading pane",
    inbox: "Inbox",
    risk: "high risk",
    row: /link "Effect unknown Restart web-1 demo for Ana"/,
    left: /time: 1\d min left/,
    verb: "Call a tool, effect unknown",
    facts: ["Asked by", "Stopped by rule", "If it goes wrong"],
    theirs: ["Title given by the program not checked by anyone", "Arguments written by the program"],
    regions: ["What will run", "About this hold", "Comments", "Your answer"],
    buttons: ["Approve once", "Deny…", "Edit…", "More: Approve for this session"],
    decided: "Approved by Ana",
    foreign: /[\u4e00-\u9fff]/,
  },
  Chinese: {
    locale: "zh-CN",
    skip: "跳到正文",
    list: "等待你处理",
    pane: "阅读区",
    inbox: "收件箱",
    risk: "高风险",
    row: /link "效果未知 Restart web-1 demo 代表 Ana"/,
    left: /time: 还剩 1\d分/,
    verb: "调用工具，效果未知",
    facts: ["请求方", "拦下它的规则", "如果出错"],
    theirs: ["程序给出的标题 无人核实", "参数 程序所写"],
    regions: ["将要运行", "关于此事项", "评论", "你的答复"],
    buttons: ["批准一次", "拒绝…", "修改…", "更多：在此会话内批准"],
    decided: "Ana 已批准",
    foreign: /[A-Z][a-z]+ [a-z]+ [a-z]+/,
  },
};

/** What has the focus, as a screen reader names it: its role and its name. */
async function focused(page) {
  const at = page.locator(":focus");
  return (await at.count()) === 0 ? "" : (await at.ariaSnapshot()).split("\n")[0];
}

/** The keys pressed until the focus is where it should be, with what was passed. */
async function tabTo(page, wanted, most) {
  const passed = [];
  while (passed.length < most) {
    await page.keyboard.press("Tab");
    const at = await focused(page);
    passed.push(at);
    if (at.includes(wanted)) return passed;
  }
  throw new Error(`Tab does not come to ${wanted}: ${passed.join(" | ")}`);
}

for (const [language, words] of Object.entries(WORDS)) {
  test(`from the inbox over a decision to the next hold, as it is read aloud: in ${language}`, async () => {
    const first = await ask("web-1", { expires_in_s: 1000, risk: "high" });
    const second = await ask("web-2", { expires_in_s: 2000 });
    const page = await world.page({ locale: words.locale });
    await page.addInitScript(() => {
      window.pointed = 0;
      for (const kind of ["pointerdown", "mousedown", "touchstart"]) addEventListener(kind, () => (window.pointed += 1), { capture: true });
      // What each region that speaks says, as often as it says something.
      window.spoken = [];
      new MutationObserver((changes) => {
        const regions = changes.map(({ target }) => (target instanceof Element ? target : target.parentElement)?.closest("[role=status], [role=alert], [aria-live=polite], [aria-live=assertive]"));
        for (const region of new Set(regions)) if (region) window.spoken.push(region.textContent);
      }).observe(document, { childList: true, characterData: true, subtree: true });
    });
    await page.goto(world.url("/"));
    await cardOf(page, first.id).locator("[data-approve]:not([disabled])").waitFor();

    // The page: one way past the menu, the number of what waits at the menu's first link, and two regions with names.
    const tree = await page.locator("body").ariaSnapshot();
    for (const part of [`- link "${words.skip}"`, `- navigation`, `- main`, `- region "${words.list}"`, `- heading "${words.inbox}" [level=1]`, `- region "${words.pane}"`]) assert.ok(tree.includes(part), `${part} in\n${tree}`);
    assert.match(tree, new RegExp(`link "${words.inbox} , 2 `), "what waits is counted where one goes to it");
    assert.ok(tree.indexOf(`- link "${words.skip}"`) < tree.indexOf("- navigation"), "it comes before what it skips");

    // The row: the risk as a word, what it is and who asks, and how long is left.
    const row = await page.locator("li.row", { has: page.locator(`[data-item="${first.id}"]`) }).ariaSnapshot();
    assert.ok(row.includes(`img "${words.risk}"`), row);
    assert.match(row, words.row);
    assert.match(row, words.left);
    assert.ok(row.includes(`"${{ "en-US": "Select", "zh-CN": "选择" }[words.locale]} ${first.tag}"`), "the box says which hold it selects");

    // Round to the top of the page, from there to the row, and into the card: the focus is on its headline, never on a button.
    await tabTo(page, words.skip, 15);
    await tabTo(page, "Restart web-1", 25);
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/holds/${first.id}`);
    await cardOf(page, first.id).locator("[data-approve]:not([disabled])").waitFor();
    assert.match(await focused(page), new RegExp(`^- heading "${words.verb}" \\[level=1\\]`));

    // The card: named by its headline; facts as terms; foreign text in figures that say whose it is; regions with headings.
    const card = await cardOf(page, first.id).ariaSnapshot();
    assert.ok(card.startsWith(`- article "${words.verb}"`), card);
    for (const fact of words.facts) assert.ok(card.includes(`- term: ${fact}`), `${fact} in\n${card}`);
    for (const figure of words.theirs) assert.ok(card.includes(`- figure "${figure}"`), `${figure} in\n${card}`);
    const places = words.regions.map((name) => card.indexOf(`- region "${name}"`));
    assert.ok(places.every((at) => at > 0), `${words.regions} in\n${card}`);
    assert.deepEqual([...places].sort((a, b) => a - b), places, "what it does comes before the answer");
    for (const button of words.buttons) assert.ok(card.includes(`button "${button}"`), `${button} in\n${card}`);
    assert.ok(card.includes(`unit: \\"web-1\\"`), "the argument itself is read");

    // From the headline to the answer, past everything that can be opened, and the decision.
    const passed = await tabTo(page, `button "${words.buttons[0]}"`, 10);
    assert.ok(passed.length >= 2, `the record and the comments are on the way: ${passed.join(" | ")}`);
    await page.keyboard.press("Enter");

    // What was decided is said once by a region that speaks, with the tag, and the focus is on the headline of the next hold.
    await page.waitForURL(`**/holds/${second.id}`);
    await cardOf(page, second.id).locator("[data-approve]:not([disabled])").waitFor();
    await page.getByRole("status").filter({ hasText: `${first.tag}: ` }).filter({ hasText: words.decided }).waitFor({ state: "attached" });
    await page.locator("[data-testid=toast]", { hasText: words.decided }).waitFor();
    const spoken = await page.evaluate(() => window.spoken);
    assert.equal(spoken.filter((text) => text.includes(words.decided)).length, 1, `said once: ${spoken.join(" | ")}`);
    assert.match(await focused(page), new RegExp(`^- heading "${words.verb}" \\[level=1\\]`));
    assert.ok((await cardOf(page, second.id).ariaSnapshot()).includes(`unit: \\"web-2\\"`));
    assert.match(await page.locator("body").ariaSnapshot(), new RegExp(`link "${words.inbox} , 1 `));
    assert.deepEqual([(await world.hold(first.id)).state, (await world.hold(second.id)).state], ["approved", "pending"]);
    // One language all the way: what is left of the other is the switch to it, and what other people wrote.
    const said = (await page.locator("main").ariaSnapshot()).replaceAll(/"?Restart web-\d"?/g, "").split("\n").filter((line) => !line.includes("/url"));
    assert.deepEqual(said.filter((line) => words.foreign.test(line)), []);
    assert.equal(await page.evaluate(() => window.pointed), 0, "no pointer was used");
    assert.deepEqual(page.troubles, []);
  });
}

test("a decision is announced also while the list cannot be read", async () => {
  const hold = await ask("web-1");
  const page = await world.page();
  await page.route(/\/v1\/holds\?/, (route) => route.abort());
  await page.goto(world.url(`/holds/${hold.id}`));
  await cardOf(page, hold.id).waitFor();
  await world.api("POST", `/v1/holds/${hold.id}/answer`, { digest: hold.digest, answer: { verdict: "deny" } });
  await page.locator(".sr[role=status]", { hasText: `${hold.tag}: Restart web-1: Denied by Ana` }).waitFor({ state: "attached" });
});
