// A session while it runs: text as it is written, a reload in the middle of it, a stop, a retry after a failure, and its title.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { assertAccessible } from "./axe.mjs";
import { asPage } from "./every_tool.mjs";
import { OwnServer, PHONE } from "./own_server.mjs";
import { waitingModel } from "./waiting_model.mjs";

const WORDS = Array.from({ length: 60 }, (_, at) => `word${at}`).join(" ");
const [FIRST, REST] = [WORDS.slice(0, WORDS.indexOf("word10")), WORDS.slice(WORDS.indexOf("word10"))];
const CONFIG = `
[[agents]]
id = "author"
model = "waiting"
instructions = "Write until you are told to wait."
[[agents]]
id = "writer"
model = "script"
instructions = "Write."
[[people]]
id = "ana"
name = "Ana"
roles = ["admin"]
`;
const SCRIPT = `
[deltas]
words = 1
delay_ms = 100
[[turn]]
when = { says = "Write for two seconds." }
text = "${WORDS.slice(0, WORDS.indexOf(" word20"))}"
[[turn]]
when = { says = "Fail once." }
fail = "refused"
text = "half a"
times = 1
[[turn]]
when = { says = "Fail once." }
text = "Now it worked."
`;

let own, model;
before(async () => {
  model = await waitingModel("waiting", FIRST, REST);
  own = await OwnServer.start(model.config + CONFIG, SCRIPT);
});
afterEach(() => own.closePages());
after(async () => {
  await own?.close();
  model?.close();
});

/** Says it to an agent on the page, as a person does. */
async function say(agent, text, options = {}) {
  const page = await own.page("ana", options);
  await page.goto(own.url("/sessions"));
  if (options.isMobile) await page.goto(own.url("/start"));
  await page.locator("select[name=agent]").selectOption(agent);
  await page.locator("textarea[name=say]").fill(text);
  await page.locator("form.composer button[type=submit]").click();
  await page.waitForURL("**/sessions/ses_*");
  return page;
}

const draft = (page) => page.locator("[aria-busy=true][data-message]");

test("text appears as it is written, and a reload in the middle of it loses nothing", async () => {
  const page = await say("author", "Write a long text.");
  await draft(page).getByText("word9").waitFor();
  const early = await draft(page).innerText();
  assert.doesNotMatch(early, /word10/, "it is still being written");
  await page.locator("[data-run=running]").waitFor();
  await assertAccessible(page, "while the agent writes");
  await page.reload();
  // What was written before the reload is there again, and goes on.
  await draft(page).getByText("word9").waitFor();
  assert.match(await draft(page).innerText(), /word0 word1/);
  model.goOn();
  await page.locator("[data-run=completed]").waitFor();
  assert.ok((await page.locator("[data-author=assistant]").innerText()).includes(WORDS));
  assert.equal(await draft(page).count(), 0);
  // The title is the first message.
  assert.equal((await page.locator("h1").last().innerText()).trim(), "Write a long text.");
  assert.match(await page.locator(".row-current").innerText(), /Write a long text\./);
});

test("a session without a title is named after what was said first", async () => {
  const page = await own.page("ana");
  await page.goto(own.url("/"));
  const session = await asPage(page, "POST", "/v1/sessions", { agent: "writer" });
  await asPage(page, "POST", `/v1/sessions/${session.id}/messages`, { text: "\n  Fail once.\nand more" });
  await page.goto(own.url(`/sessions/${session.id}`));
  assert.equal((await page.locator("h1", { hasText: "Fail once." }).innerText()).trim(), "Fail once.");
});

test("a run is stopped in the middle, and what was written until then is not taken for an answer", async () => {
  for (const options of [{}, PHONE]) {
    const page = await say("author", "Write a long text.", options);
    await draft(page).getByText("word9").waitFor();
    await page.getByRole("button", { name: "Stop the run" }).click();
    await page.locator("[data-run=cancelled]").waitFor();
    assert.equal(await draft(page).count(), 0);
    await page.reload();
    await page.locator("[data-run=cancelled]").waitFor();
    assert.equal(await page.locator("[data-author=assistant]").count(), 0, "what was written until then is no answer");
  }
});

test("a run that failed says why, and goes on after Retry", async () => {
  const page = await say("writer", "Fail once.");
  await page.locator("[data-run=failed]").waitFor();
  assert.match(await page.locator(".run .refusal").innerText(), /The run failed:/);
  await assertAccessible(page, "a failed run");
  await page.getByRole("button", { name: "Retry" }).click();
  await page.locator("[data-run=completed]").waitFor();
  await page.getByText("Now it worked.").waitFor();
});

test("where the time went is told step by step", async () => {
  const page = await say("writer", "Write for two seconds.");
  await page.locator("[data-run=completed]").waitFor();
  const chart = page.locator("[data-testid=run-time]");
  await chart.getByText("Step by step").click();
  const steps = chart.locator("[data-step=model]");
  assert.ok((await steps.count()) >= 1);
  assert.match(await steps.first().innerText(), /\d\d:\d\d:\d\d[\s\S]*Model[\s\S]*\d+ s/);
});
