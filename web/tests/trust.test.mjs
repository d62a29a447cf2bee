// Nothing that a stranger wrote acts or hides, nothing is approved by a slip, and every request carries what the server asks for.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { assertShown, cardOf, fillBySchema, holdId, open } from "./harness.mjs";

let world;
before(async () => {
  world = await open();
});
afterEach(() => world.closePages());
after(async () => {
  await world?.close();
});

test("without a login the page explains how to log in, and nothing else", async () => {
  const page = await world.page({ loggedIn: false });
  await page.goto(world.url("/"));
  await page.getByRole("heading", { name: "You are not logged in" }).waitFor();
  await page.getByText("Other ways in").click();
  assert.match(await page.innerText("body"), /holdpoint token login PERSON/);
  assert.equal(await page.locator(".inbox, .sessions, [data-scenario]").count(), 0);
});

test("hostile text is shown whole and inert", async () => {
  const attack = `<img src=x onerror="document.title='hacked'"><script>document.title='hacked'</script>`;
  const bidi = "safe\u202Egnp.exe\u2066\u200B\u200D\uFEFF";
  const hold = await world.openHold({
    kind: "approve",
    title: `${attack} ${bidi}`,
    call: { tool: "shell_cmd", arguments: { argv: [attack, bidi, "x".repeat(3000), `${" ".repeat(400)}; rm -rf everything`] } },
    context: { [attack]: `${attack} ${bidi}` },
  });
  const page = await world.page();
  await page.goto(world.url(`/holds/${hold.id}`));
  const card = cardOf(page, hold.id);
  const view = card.locator("[data-testid=view]");
  await view.waitFor();
  await assertShown(card, hold);
  assert.equal(await card.locator("img, script, iframe, [onerror]").count(), 0);
  assert.doesNotMatch(await card.innerText(), /[\u200B-\u200F\u202A-\u202E\u2066-\u2069\uFEFF]/);
  // The headline is ours; the title stands on sand, with its marks.
  assert.equal(await card.locator("h1").innerText(), "Run 1 command");
  assert.match(await card.locator("[data-title]").innerText(), /U\+202E/);
  assert.match(await card.locator("[data-warning=misleading]").innerText(), /Made to mislead\?.*A run of 400 spaces.*characters without an honest picture/);
  assert.doesNotMatch(await page.title(), /hacked/);
  // Whole: no scroll box, no ellipsis, nothing outside of the frame.
  const box = await view.evaluate((pre) => ({ wide: pre.scrollWidth - pre.clientWidth, high: pre.scrollHeight - pre.clientHeight }));
  assert.ok(box.wide <= 0 && box.high <= 0, JSON.stringify(box));
  assert.match(await view.innerText(), /rm -rf everything/);
  assert.deepEqual(page.troubles, []);
});

test("a critical call needs the word of its target typed; nothing is sent before", async () => {
  const hold = await world.openHold({ kind: "approve", title: "Drop the table", risk: "critical", call: { tool: "drop_it", arguments: { table: "orders" } } });
  const page = await world.page();
  const sent = [];
  page.on("request", (request) => {
    if (request.method() === "POST") sent.push(request);
  });
  await page.goto(world.url(`/holds/${hold.id}`));
  const card = cardOf(page, hold.id);
  assert.equal(await card.locator(".confirm .chip").innerText(), "drop_it");
  assert.ok(await card.locator("[data-approve]").isDisabled());
  await card.locator("input[name=word]").fill("drop_them");
  await card.locator(".confirm .field-error").waitFor();
  assert.ok(await card.locator("[data-approve]").isDisabled());
  await page.keyboard.press("Enter");
  assert.equal(sent.length, 0);
  assert.equal((await world.hold(hold.id)).state, "pending");
  await card.locator("input[name=word]").fill("DROP_IT");
  await card.locator("[data-approve]").click();
  await card.locator("[data-settled=approved]").waitFor();
  assert.equal(sent.length, 1);
  const headers = sent[0].headers();
  assert.match(headers["idempotency-key"], /^[0-9a-f-]{36}$/);
  assert.ok(headers["x-holdpoint-csrf"]);
  assert.deepEqual(sent[0].postDataJSON(), { digest: hold.digest, answer: { verdict: "approve", scope: "once" } });
});

test("edited arguments are sent as typed, and broken JSON is told beside the field", async () => {
  const hold = await world.openHold({ kind: "approve", title: "Pay", call: { tool: "pay", arguments: { amount: 10 } } });
  const page = await world.page();
  await page.goto(world.url(`/holds/${hold.id}`));
  const card = cardOf(page, hold.id);
  await card.getByRole("button", { name: "Edit…" }).click();
  const field = card.locator("[data-argument=amount] input");
  assert.equal(await field.inputValue(), "10");
  const approving = card.locator("[data-approve]");
  assert.ok(await approving.isDisabled());
  assert.match(await card.locator("[data-edit]").innerText(), /Nothing is changed/);
  await card.getByText("JSON", { exact: true }).click();
  const area = card.locator("textarea[name=arguments]");
  assert.deepEqual(JSON.parse(await area.inputValue()), { amount: 10 });
  await area.fill('{"amount": 5');
  assert.match(await card.locator(".field-error").innerText(), /not a JSON object/);
  assert.ok(await approving.isDisabled());
  const request = page.waitForRequest(`**/v1/holds/${hold.id}/answer`);
  await area.fill('{"amount": 12345678901234567}');
  await card.locator("[data-edit] .fx-removed", { hasText: "10" }).waitFor();
  await approving.click();
  assert.match((await request).postData(), /"arguments":\{"amount": 12345678901234567\}/);
});

test("the placeholder of a secret is never sent as a value", async () => {
  const hold = await world.openHold({ kind: "approve", title: "Send mail", call: { tool: "mail", arguments: { to: "ana", key: "[secret]" } } });
  const page = await world.page();
  const sent = [];
  page.on("request", (request) => {
    if (request.method() === "POST") sent.push(request);
  });
  await page.goto(world.url(`/holds/${hold.id}`));
  const card = cardOf(page, hold.id);
  await card.getByRole("button", { name: "Edit…" }).click();
  await card.locator("[data-argument=to] textarea").fill("bob");
  assert.match(await card.locator(".field-error").innerText(), /the placeholder is not sent/);
  assert.ok(await card.locator("[data-approve]").isDisabled());
  assert.equal(sent.length, 0);
  const request = page.waitForRequest(`**/v1/holds/${hold.id}/answer`);
  await card.locator("[data-argument=key] textarea").fill("typed");
  await card.locator("[data-approve]").click();
  assert.deepEqual((await request).postDataJSON().answer.arguments, { to: "bob", key: "typed" });
});

test("a secret that was filled in is shown to whoever may answer and asks for it, and gone again when hidden", async () => {
  const schema = { type: "object", required: ["key"], properties: { key: { type: "string", writeOnly: true } } };
  const hold = await world.openHold({ kind: "fill", title: "A key, please", schema });
  const page = await world.page();
  await page.goto(world.url(`/holds/${hold.id}`));
  const card = cardOf(page, hold.id);
  await card.locator("[data-field=key] input").fill("k4narie-93");
  await card.getByRole("button", { name: "Send answer" }).click();
  await card.locator("[data-settled=answered]").waitFor();
  assert.doesNotMatch(await page.content(), /k4narie/);
  const reveal = card.locator("[data-reveal]");
  await reveal.getByRole("button", { name: "Reveal secrets" }).click();
  await reveal.locator("dd").waitFor();
  assert.match(await reveal.innerText(), /k4narie-93/);
  await reveal.getByRole("button", { name: "Hide secrets" }).click();
  assert.doesNotMatch(await page.content(), /k4narie/);
  assert.deepEqual(page.troubles, []);
});

test("every kind of field: the values arrive as typed, the secret is hidden, the server's objection stands beside its field", async () => {
  const hold = await world.openHold({
    kind: "fill",
    title: "Mail account",
    schema: {
      type: "object",
      required: ["address", "port", "tls", "password"],
      properties: {
        address: { type: "string", title: "Mail address" },
        port: { type: "integer", minimum: 1, default: 587 },
        quota: { type: "number" },
        tls: { type: "boolean" },
        mode: { enum: ["smtp", "jmap"] },
        folders: { type: "array", items: { enum: ["Inbox", "Reports"] } },
        headers: { type: "object" },
        password: { type: "string", writeOnly: true },
      },
    },
  });
  const page = await world.page();
  await page.goto(world.url(`/holds/${hold.id}`));
  const card = cardOf(page, hold.id);
  const field = (name) => card.locator(`[data-field="${name}"]`);
  await field("address").locator("input").fill("reports@example.org");
  assert.equal(await field("port").locator("input").inputValue(), "587", "what is suggested is preselected, and said to be");
  assert.match(await field("port").innerText(), /suggested/);
  await field("port").locator("input").fill("0");
  await field("quota").locator("input").fill("1.5");
  assert.equal(await field("tls").locator("input:checked").count(), 0);
  await field("tls").locator("input[value=false]").check();
  assert.equal(await field("mode").locator("input:checked").getAttribute("value"), "", "nothing is preselected");
  await field("mode").locator('input[value="1"]').check();
  await field("folders").locator("input").nth(1).check();
  await field("headers").locator("textarea").fill('{"X-Team": "ops"}');
  assert.equal(await field("password").locator("input").getAttribute("type"), "password");
  await field("password").locator("input").fill("canary-7431");
  await card.getByRole("button", { name: "Send answer" }).click();
  await field("port").locator(".field-error").waitFor();
  assert.equal((await world.hold(hold.id)).state, "pending");
  const request = page.waitForRequest(`**/v1/holds/${hold.id}/answer`);
  await field("port").locator("input").fill("587");
  await card.getByRole("button", { name: "Send answer" }).click();
  assert.deepEqual((await request).postDataJSON().answer.fill, {
    address: "reports@example.org",
    port: 587,
    quota: 1.5,
    tls: false,
    mode: "jmap",
    folders: ["Reports"],
    headers: { "X-Team": "ops" },
    password: "canary-7431",
  });
  await card.locator("[data-settled=answered]").waitFor();
  assert.doesNotMatch(await page.innerText("body"), /canary-7431/);
});

const RELEASE = {
  kind: "fill",
  title: "Release",
  schema: {
    type: "object",
    required: ["owner", "day", "storage", "steps"],
    properties: {
      owner: { type: "string", format: "email", title: "Owner" },
      day: { type: "string", format: "date", title: "Day" },
      moment: { type: "string", format: "date-time", title: "Not before" },
      storage: {
        type: "object",
        title: "Storage",
        required: ["bucket"],
        properties: { bucket: { type: "string", minLength: 3 }, copies: { type: "integer", maximum: 5 }, region: { type: "object", properties: { zone: { enum: ["a", "b"] } } } },
      },
      steps: { type: "array", title: "Steps", minItems: 2, items: { type: "string" } },
      hosts: { type: "array", title: "Hosts", items: { type: "object", required: ["name"], properties: { name: { type: "string" }, port: { type: "integer" } } } },
      seats: { type: "array", items: { type: "integer" } },
    },
  },
};

for (const [where, options] of [["a desk", { timezoneId: "Asia/Shanghai" }], ["a phone, in Chinese", { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, locale: "zh-CN", timezoneId: "America/New_York" }]]) {
  test(`a nested group, lists, a date, a moment and an e-mail address arrive as typed: on ${where}`, async () => {
    const hold = await world.openHold(RELEASE);
    const page = await world.page(options);
    await page.goto(world.url(`/holds/${hold.id}`));
    const card = cardOf(page, hold.id);
    const at = (path) => card.locator(`[data-path="${path}"]`);
    const send = card.locator(".bar-in button.primary");
    const wanted = await fillBySchema(card, hold);
    // What is not even of the right form is told beside its field, before anything is sent.
    await at("owner").locator("input").fill("ana");
    await at("storage/copies").locator("input").fill("many");
    let sent = 0;
    page.on("request", (request) => (sent += request.url().endsWith("/answer") ? 1 : 0));
    await send.click();
    for (const path of ["owner", "storage/copies"]) assert.notEqual(await at(path).locator(".field-error").innerText(), "");
    assert.equal(sent, 0);
    // What only the server can judge is told beside its field, too, also inside of a group and for a list.
    await at("owner").locator("input").fill(wanted.owner);
    await at("storage/copies").locator("input").fill("9");
    await at("storage/bucket").locator("input").fill("x");
    for (let one = 0; one < wanted.steps.length - 1; one++) await at("steps").locator(".field-item button").last().click();
    await send.click();
    await card.locator("[data-code=answer_invalid]").waitFor();
    assert.match(await at("storage/copies").locator(".field-error").innerText(), /5/);
    assert.match(await at("storage/bucket").locator(".field-error").innerText(), /3/);
    assert.match(await at("steps").locator(".field-error").last().innerText(), /2/);
    assert.equal((await world.hold(hold.id)).state, "pending");
    await at("storage/copies").locator("input").fill(String(wanted.storage.copies));
    await at("storage/bucket").locator("input").fill(wanted.storage.bucket);
    await at("steps").locator("[data-add]").click();
    await at("steps").locator(".field-item input").last().fill(wanted.steps.at(-1));
    await send.click();
    await card.locator("[data-settled=answered]").waitFor();
    assert.deepEqual((await world.hold(hold.id)).decision.fill, wanted);
    // 2030-01-31 09:30 where the reader is.
    assert.equal(wanted.moment, options.timezoneId === "Asia/Shanghai" ? "2030-01-31T01:30:00Z" : "2030-01-31T14:30:00Z");
    assert.deepEqual(page.troubles, []);
  });
}

test("an answered file is shown by its name", async () => {
  const schema = { type: "object", required: ["invoice"], properties: { invoice: { type: "string", format: "file", title: "Invoice" } } };
  const hold = await world.openHold({ kind: "fill", title: "Invoice", schema });
  const page = await world.page();
  await page.goto(world.url(`/holds/${hold.id}`));
  const card = cardOf(page, hold.id);
  await card.locator("input[type=file]").setInputFiles({ name: "invoice 7.csv", mimeType: "text/csv", buffer: Buffer.from("id\n7\n") });
  await card.locator("[data-chosen]").waitFor();
  await card.locator(".bar-in button.primary").click();
  await card.locator("[data-settled=answered]").waitFor();
  const id = (await world.hold(hold.id)).decision.fill.invoice;
  const shown = card.locator(`[data-file="${id}"]`).first();
  await shown.waitFor();
  assert.match(await shown.innerText(), /invoice 7\.csv/);
  assert.ok(!(await card.locator("[data-answered]").innerText()).includes(id), "the name stands for the id");
  await page.reload();
  await shown.waitFor();
  assert.deepEqual(page.troubles, []);
});

test("own words are taken where the hold allows them", async () => {
  const hold = await world.openHold({ kind: "choose", title: "Which strategy?", options: [{ id: "1", label: "Blue-Green" }, { id: "2", label: "Canary" }], allow_other: true });
  const page = await world.page();
  await page.goto(world.url(`/holds/${hold.id}`));
  const card = cardOf(page, hold.id);
  await card.getByLabel("Something else").check();
  await card.locator("input[name=other]").fill("wait until Monday");
  await card.getByRole("button", { name: "Send answer" }).click();
  await card.locator("[data-settled=answered]").waitFor();
  assert.deepEqual((await world.hold(hold.id)).decision.choose, ["wait until Monday"]);
});

test("no single key answers: a hold opened by keyboard stays pending whatever letter is typed", async () => {
  const page = await world.page();
  const id = await holdId((await world.scenario(page, "approve")).first());
  await page.goto(world.url("/"));
  await page.locator(`[data-item="${id}"]`).waitFor();
  await page.keyboard.press("j");
  await page.waitForFunction(() => document.activeElement?.hasAttribute("data-item"));
  const opened = await page.evaluate(() => document.activeElement.dataset.item);
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/holds/${opened}`);
  await page.locator(".hold-page h1:focus").waitFor();
  await page.locator("[data-approve]:not([disabled])").waitFor();
  for (const key of ["a", "y", "Enter", "Space", "1", "Control+Enter"]) {
    await page.keyboard.press(key);
    await page.locator(".hold-page h1").focus();
  }
  assert.equal((await world.hold(opened)).state, "pending");
  assert.ok(new URL(page.url()).pathname.endsWith(opened));
});

test("a frozen server is told in a banner", async () => {
  await world.api("POST", "/v1/freeze", { reason: "maintenance" });
  try {
    const page = await world.page();
    await page.goto(world.url("/start"));
    await page.locator("textarea[name=say]").fill("hello");
    await page.keyboard.press("Control+Enter");
    await page.locator(".banner-frozen").waitFor();
    // By whom and why, and that it is not a fault.
    assert.match(await page.locator(".banner-frozen").innerText(), /Frozen by .+maintenance.+Nothing starts/s);
    const later = await world.page();
    await later.goto(world.url("/"));
    await later.locator(".banner-frozen").waitFor();
    await world.api("DELETE", "/v1/freeze");
    await later.locator(".banner-frozen").waitFor({ state: "detached" });
  } finally {
    await world.api("DELETE", "/v1/freeze");
  }
});
