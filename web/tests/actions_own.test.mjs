// Actions that need more than the demo: a quorum of two people, a run that failed and goes on, one that has used up its budget, and a call
// whose outcome a crash left unknown.
// Each on a desk in English and light, and on a phone in Chinese and dark.

import assert from "node:assert/strict";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { assertAccessible } from "./axe.mjs";
import { asPage } from "./every_tool.mjs";
import { cardOf, until } from "./harness.mjs";
import { OwnServer, PHONE } from "./own_server.mjs";

const KINDS = {
  "a desk, in English, light": { viewport: { width: 1280, height: 900 }, locale: "en-US", colorScheme: "light" },
  "a phone, in Chinese, dark": { ...PHONE, locale: "zh-CN", colorScheme: "dark" },
};
const TOOL = `kind = "command"
effects = "at_most_once"
[tools.input_schema]
type = "object"
properties = { what = { type = "string" } }`;
const CONFIG = `
[[agents]]
id = "ops"
model = "script"
instructions = "Work."
tools = ["pay", "deploy"]
[[agents]]
id = "frugal"
model = "script"
instructions = "Work."
tools = ["pay"]
budgets = { turns = 1 }
[[tools]]
name = "pay"
description = "Pays."
argv = ["true"]
${TOOL}
[[tools]]
name = "deploy"
description = "Deploys."
argv = ["sh", "-c", "touch begun; sleep 60"]
${TOOL}
[[people]]
id = "ana"
name = "Ana"
roles = ["admin", "treasurer"]
[[people]]
id = "ben"
name = "Ben"
roles = ["treasurer"]
[policy]
[[policy.rules]]
name = "two treasurers"
then = "ask"
match = { tool = "pay" }
ask = { roles = ["treasurer"], quorum = 2 }
`;
const SCRIPT = `
[[turn]]
when = { says = "Pay." }
text = "I will pay."
calls = [{ tool = "pay", arguments = { what = "rent" } }]
[[turn]]
when = { says = "Pay.", result_of = "pay" }
text = "Paid."
[[turn]]
when = { says = "Deploy." }
text = "I will deploy."
calls = [{ tool = "deploy", arguments = { what = "shop" } }]
[[turn]]
when = { says = "Deploy.", result_of = "deploy" }
text = "I was told: {result}"
[[turn]]
when = { says = "Fail in English." }
fail = "refused"
text = "half a"
times = 1
[[turn]]
when = { says = "Fail in English." }
text = "Now it worked."
[[turn]]
when = { says = "Fail in Chinese." }
fail = "refused"
text = "half a"
times = 1
[[turn]]
when = { says = "Fail in Chinese." }
text = "Now it worked."
`;

let own;
before(async () => {
  own = await OwnServer.start(CONFIG, SCRIPT);
  const page = await own.page("ana");
  await page.goto(own.url("/"));
  const { url } = await asPage(page, "POST", "/v1/logins", { person: "ben" });
  await own.logIn("ben", new URL(url, own.url("/")).href);
});
afterEach(() => own.closePages());
after(() => own?.close());

async function begin(text, options, agent = "ops") {
  const page = await own.page("ana", options);
  await page.goto(own.url("/"));
  await page.locator(".list-head").waitFor();
  const session = await own.say(page, agent, text);
  return { page, session };
}

async function assertFits(page, where) {
  await assertAccessible(page, where);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, `${where}: ${wide} px too wide`);
}

for (const [where, options] of Object.entries(KINDS)) {
  test(`approve as one of two: on ${where}`, async () => {
    const { page, session } = await begin("Pay.", options);
    const hold = await own.holdOf(page, session);
    const his = await own.page("ben", options);
    for (const [reader, count] of [[page, "1/2"], [his, "2/2"]]) {
      await reader.goto(own.url(`/holds/${hold.id}`));
      const card = cardOf(reader, hold.id);
      await card.locator(`[data-quorum="${count === "1/2" ? "0/2" : "1/2"}"]`).waitFor();
      await assertFits(reader, `before ${count}`);
      await card.locator("[data-approve]:not([disabled])").click();
      if (count === "1/2") await card.locator(".voted").waitFor();
      else await card.locator("[data-settled=approved]").waitFor();
      await assertFits(reader, `after ${count}`);
    }
    const decided = await asPage(page, "GET", `/v1/holds/${hold.id}`);
    assert.deepEqual(decided.answers.map((one) => one.by).sort(), ["ana", "ben"]);
    await cardOf(page, hold.id).locator("[data-outcome=succeeded]").waitFor();
  });

  test(`retry a run that failed: on ${where}`, async () => {
    const { page, session } = await begin(options.locale === "en-US" ? "Fail in English." : "Fail in Chinese.", options);
    await page.goto(own.url(`/sessions/${session}`));
    const failed = page.locator("[data-run=failed]");
    await failed.waitFor();
    await assertFits(page, "a failed run");
    await failed.locator("button").click();
    await page.locator("[data-run=completed]").waitFor();
    await page.getByText("Now it worked.").waitFor();
    await assertFits(page, "a run that went on");
  });

  test(`let a run go on that has used up its budget, or end it: on ${where}`, async () => {
    for (const goesOn of [true, false]) {
      const { page, session } = await begin("Pay.", options, "frugal");
      const call = await own.holdOf(page, session);
      const his = await own.page("ben", options);
      await his.goto(own.url("/"));
      for (const voter of [page, his]) await asPage(voter, "POST", `/v1/holds/${call.id}/answer`, { digest: call.digest, answer: { verdict: "approve" } });
      // The call is paid, and its result would be the second turn.
      const hold = await own.holdOf(page, session);
      await page.goto(own.url(`/holds/${hold.id}`));
      const card = cardOf(page, hold.id);
      const approve = card.locator("[data-approve]:not([disabled])");
      await approve.waitFor();
      assert.match(await card.locator("h1").innerText(), options.locale === "zh-CN" ? /让运行继续/ : /Let the run go on/);
      await assertFits(page, "a budget that is used up");
      if (goesOn) {
        await approve.click();
        await card.locator("[data-settled=approved]").waitFor();
      } else {
        await card.locator(".bar-in button.danger").click();
        await card.locator("textarea[name=reason]").fill("够了 — enough");
        await card.locator(".panel button[type=submit]").click();
        await card.locator("[data-settled=denied]").waitFor();
      }
      await assertFits(page, "what was said about the budget");
      await page.goto(own.url(`/sessions/${session}`));
      await page.locator(goesOn ? "[data-run=completed]" : "[data-run]:not([data-run=running]):not([data-run=paused])").waitFor();
      const { run } = await asPage(page, "GET", `/v1/sessions/${session}`);
      assert.equal(run.status, goesOn ? "completed" : "cancelled");
      assert.equal(await page.getByText("Paid.").count(), goesOn ? 1 : 0, "without a yes the model is not asked again");
      await assertFits(page, "a run and its budget");
    }
  });

  test(`settle what a crash left unknown: on ${where}`, async () => {
    const begun = join(own.folder, "begun");
    rmSync(begun, { force: true });
    const { page, session } = await begin("Deploy.", options);
    const hold = await own.holdOf(page, session);
    await page.goto(own.url(`/holds/${hold.id}`));
    await cardOf(page, hold.id).locator("[data-approve]:not([disabled])").click();
    // That it runs is told before it has begun; a call that has not is simply started again.
    await until("the call to begin", () => existsSync(begun));
    await own.kill();
    own.serveAgain();
    await cardOf(page, hold.id).locator("[data-outcome=unknown]").waitFor({ timeout: 30_000 });
    await assertFits(page, "an unknown outcome");
    const link = cardOf(page, hold.id).locator("[data-outcome=unknown] a");
    await link.click();
    const settle = page.locator("article[data-kind=settle]");
    await settle.locator("input[type=radio]").first().check();
    await settle.locator("textarea[name=content]").fill("第 12 版已上线");
    await assertFits(page, "a question about an outcome");
    await settle.locator(".bar-in button.primary:not([disabled])").click();
    await settle.locator("[data-settled=answered]").waitFor();
    const after = await asPage(page, "GET", `/v1/holds/${hold.id}`);
    assert.equal(after.outcome.state, "succeeded");
  });
}
