// The form of an edit follows all of the tool's schema, nested values, lists, dates and addresses, and what nobody touched is sent as
// it was written: its digits, the order of its members, its spaces.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { assertAccessible } from "./axe.mjs";
import { asPage } from "./every_tool.mjs";
import { cardOf, open } from "./harness.mjs";
import { OwnServer, PHONE } from "./own_server.mjs";

const SCHEMA = {
  type: "object",
  required: ["to", "items"],
  properties: {
    to: {
      type: "object",
      required: ["email"],
      properties: {
        name: { type: "string", title: "Full name" },
        email: { type: "string", format: "email" },
        day: { type: "string", format: "date", description: "When it arrives." },
        at: { type: "string", format: "date-time" },
        way: { enum: ["van", "bike"] },
        gift: { type: "boolean" },
      },
    },
    items: { type: "array", items: { type: "object", required: ["sku"], properties: { sku: { type: "string" }, count: { type: "integer" }, price: { type: "number" } } } },
    tags: { type: "array", items: { type: "string" } },
    odd: { type: ["integer", "string"] },
    window: { type: "object", properties: { from: { type: "string", format: "date" }, until: { type: "string", format: "date" } } },
  },
};
const BOOKED = {
  to: { email: "ana@example.org", day: "2030-01-31", at: "2030-01-31T09:30:00Z", way: "van" },
  items: [{ sku: "A-1", count: 2 }, { sku: "B-2", count: 1, extra: "kept" }],
  tags: ["urgent", "paid"],
  odd: "not a number",
};
const inline = (value) => {
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (value !== null && typeof value === "object") return `{ ${Object.entries(value).map(([key, one]) => `${JSON.stringify(key)} = ${inline(one)}`).join(", ")} }`;
  return JSON.stringify(value);
};
const CONFIG = `
[[agents]]
id = "shop"
model = "script"
instructions = "Help."
tools = ["book"]
[[tools]]
name = "book"
kind = "command"
description = "Books a delivery."
argv = ["cat"]
input_schema = ${inline(SCHEMA)}
[policy]
default = "ask"
[[people]]
id = "ana"
name = "Ana Ruiz"
roles = ["admin"]
`;
const SCRIPT = `[[turn]]\nwhen = { says = "book" }\ncalls = [{ tool = "book", arguments = ${inline(BOOKED)} }]\n[[turn]]\nwhen = { says = "book", result_of = "book" }\ntext = "Booked."\n`;

let own;
let world;
before(async () => {
  own = await OwnServer.start(CONFIG, SCRIPT);
  world = await open();
});
afterEach(async () => {
  await own.closePages();
  await world.closePages();
});
after(async () => {
  await own?.close();
  await world?.close();
});

async function openEdit(page, url, id) {
  await page.goto(url);
  const card = cardOf(page, id);
  await card.getByRole("button", { name: "Edit…" }).first().click();
  const edit = card.locator("[data-edit]");
  await edit.locator("[data-argument]").first().waitFor();
  return { card, edit, at: (path) => edit.locator(`[data-path="${path}"]`) };
}

/** What the approval of the reader's version sends as arguments, to the byte. */
async function sentBy(page, card, id) {
  const request = page.waitForRequest(`**/v1/holds/${id}/answer`);
  await card.locator("[data-approve]:not([disabled])").click();
  const body = (await request).postData();
  await card.locator("[data-settled=approved]").waitFor();
  return body.slice(body.indexOf('"arguments":') + '"arguments":'.length, -2);
}

for (const [where, options] of [["a desk", {}], ["a phone", PHONE]]) {
  test(`nested values, lists, a date, a moment, an address and a choice are fields of their own: on ${where}`, async () => {
    const page = await own.page("ana", { ...options, timezoneId: "Europe/Berlin", ...(where === "a desk" ? {} : { hasTouch: true }) });
    await page.goto(own.url("/"));
    const hold = await own.holdOf(page, await own.say(page, "shop", "book"));
    await page.goto(own.url(`/holds/${hold.id}`));
    const card = cardOf(page, hold.id);
    const editing = card.getByRole("button", { name: "Edit…" });
    if (where === "a phone") await card.locator(".bar-more").click();
    await editing.locator("visible=true").first().click();
    const edit = card.locator("[data-edit]");
    const at = (path) => edit.locator(`[data-path="${path}"]`);
    await at("to/email").waitFor();
    assert.equal(await at("to/email").locator("input[type=email]").inputValue(), "ana@example.org");
    assert.equal(await at("to/day").locator("input[type=date]").inputValue(), "2030-01-31");
    assert.equal(await at("to/at").locator("input[type=datetime-local]").inputValue(), "2030-01-31T10:30", "on the reader's clock");
    assert.equal(await at("to/way").locator("input:checked").getAttribute("value"), "0");
    assert.deepEqual(await at("tags").locator("textarea").evaluateAll((all) => all.map((one) => one.value)), ["urgent", "paid"]);
    assert.match(await edit.innerText(), /When it arrives\./);
    assert.equal(await edit.locator("textarea.code").count(), 0, "nothing is JSON to type");
    // What may be a number and is a text stays a text, and what the tool takes besides is added by a press.
    assert.equal(await at("odd").locator("textarea").inputValue(), "not a number");
    await edit.locator("[data-add-argument=window]").click();
    await at("window/from").locator("input").fill("2030-02-01");
    await at("to/email").locator("input").fill("bo@example.org");
    await at("to/gift").locator("input[value=true]").check();
    await at("to/way").locator("input[value='1']").check();
    await at("items/0/count").locator("input").fill("3");
    await at("items").locator("[data-add]").click();
    await at("items/2/sku").locator("textarea").fill("C-3");
    await at("tags").locator(".field-item").first().getByRole("button", { name: /Remove/ }).click();
    await assertAccessible(page, `an edit of nested values on ${where}`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${wide} px too wide`);
    // A wrong value is told beside its field, and nothing can be approved.
    await at("items/0/count").locator("input").fill("2,5");
    await at("items/0/count").locator(".field-error").waitFor();
    assert.ok(await card.locator("[data-approve]").isDisabled());
    assert.match(await card.locator(".bar").innerText(), /1 to fix/);
    await at("items/0/count").locator("input").fill("3");
    await card.locator("[data-look=done]").waitFor();
    const sent = await sentBy(page, card, hold.id);
    assert.deepEqual(JSON.parse(sent), {
      to: { email: "bo@example.org", day: "2030-01-31", at: "2030-01-31T09:30:00Z", way: "bike", gift: true },
      items: [{ sku: "A-1", count: 3 }, { sku: "B-2", count: 1, extra: "kept" }, { sku: "C-3" }],
      tags: ["paid"],
      odd: "not a number",
      window: { from: "2030-02-01" },
    });
    // The order is that of the call.
    assert.deepEqual(Object.keys(JSON.parse(sent)), [...Object.keys(hold.call.arguments), "window"]);
    assert.match(sent, /"items": \[\{"count": 3, "sku": "A-1"\}, \{"count":1,"extra":"kept","sku":"B-2"\}, \{"sku": "C-3"\}\]/, "what was not touched is not written anew");
    assert.equal((await asPage(page, "GET", `/v1/holds/${hold.id}`)).state, "approved");
  });
}

/** Opens a hold with exactly these bytes as arguments. */
async function openExactly(args) {
  const body = `{"kind":"approve","title":"Pay","call":{"tool":"pay","arguments":${args}}}`;
  const reply = await fetch(world.url("/v1/holds"), { method: "POST", headers: { Authorization: `Bearer ${world.ready.program_token}`, "Content-Type": "application/json" }, body });
  assert.equal(reply.status, 201, await reply.clone().text());
  return reply.json();
}

const EXACT = '{"z":1,"10":12345678901234567890,"2":"two","deep":{"b":18446744073709551615,"a":[1,2.5,"x"]},"memo":"hello"}';

test("large numbers and the order of members stay as they are when something else is edited", async () => {
  const hold = await openExactly(EXACT);
  const page = await world.page();
  const { card, edit, at } = await openEdit(page, world.url(`/holds/${hold.id}`), hold.id);
  assert.equal(await at("10").locator("input").inputValue(), "12345678901234567890");
  assert.equal(await at("deep/b").locator("input").inputValue(), "18446744073709551615");
  await edit.getByText("Nothing is changed").waitFor();
  await at("memo").locator("textarea").fill("bye");
  await edit.locator(".fx-added", { hasText: "bye" }).waitFor();
  assert.deepEqual(await edit.locator(".fx-diff li").allInnerTexts(), ["hello", "bye"], "nothing else changes");
  assert.equal(await sentBy(page, card, hold.id), '{"z": 1, "10": 12345678901234567890, "2": "two", "deep": {"b":18446744073709551615,"a":[1,2.5,"x"]}, "memo": "bye"}');
});

test("one digit of a large number is a change, in the form and as JSON", async () => {
  const hold = await openExactly(EXACT);
  const page = await world.page();
  const { card, edit, at } = await openEdit(page, world.url(`/holds/${hold.id}`), hold.id);
  await at("10").locator("input").fill("12345678901234567891");
  await edit.locator(".fx-added", { hasText: "12345678901234567891" }).waitFor();
  assert.deepEqual(await edit.locator(".fx-diff li").allInnerTexts(), ["12345678901234567890", "12345678901234567891"]);
  await at("10").locator("input").fill("12345678901234567890");
  await edit.getByText("Nothing is changed").waitFor();
  await card.getByText("JSON", { exact: true }).click();
  const area = card.locator("textarea[name=arguments]");
  assert.equal(await area.inputValue(), '{\n  "z": 1,\n  "10": 12345678901234567890,\n  "2": "two",\n  "deep": {\n    "b": 18446744073709551615,\n    "a": [\n      1,\n      2.5,\n      "x"\n    ]\n  },\n  "memo": "hello"\n}');
  await edit.getByText("Nothing is changed").waitFor();
  await area.fill((await area.inputValue()).replace("567890,", "567891,"));
  await card.getByText("Form", { exact: true }).click();
  assert.equal(await at("10").locator("input").inputValue(), "12345678901234567891");
  assert.equal(await at("deep/a").locator("textarea.code").count(), 1, "a list of different things is JSON");
});

test("a number keeps its spelling as the server writes it", async () => {
  const hold = await openExactly('{"amount":1.5,"rate":2,"memo":"hello","lines":[{"price":3.5},{"price":4.5}]}');
  const page = await world.page();
  // The text of the reply, and not what a browser makes of it, is what is edited.
  await page.route(`**/v1/holds/${hold.id}`, async (route) => {
    const reply = await route.fetch();
    await route.fulfill({ response: reply, body: (await reply.text()).replace('"amount":1.5', '"amount": 1.50').replace('{"price":3.5}', '{ "price" : 3.50e0 }') });
  });
  const { card, at } = await openEdit(page, world.url(`/holds/${hold.id}`), hold.id);
  assert.equal(await at("amount").locator("input").inputValue(), "1.50");
  await at("memo").locator("textarea").fill("bye");
  await at("lines/1/price").locator("input").fill("4.70");
  assert.equal(await sentBy(page, card, hold.id), '{"amount": 1.50, "rate": 2, "memo": "bye", "lines": [{ "price" : 3.50e0 }, {"price": 4.70}]}');
});

test("a text with line ends of Windows is edited as JSON, in which they keep their form", async () => {
  const hold = await world.openHold({ kind: "approve", title: "Write it", call: { tool: "write", arguments: { content: "one\r\ntwo", note: "as it was" } } });
  const page = await world.page({ viewport: { width: 1280, height: 900 } });
  await page.goto(world.url(`/holds/${hold.id}`));
  const card = cardOf(page, hold.id);
  await card.locator("[data-approve]:not([disabled])").waitFor();
  await page.keyboard.press("e");
  assert.equal(await card.locator("[data-argument=content] textarea").inputValue(), '"one\\r\\ntwo"');
  assert.equal(await card.locator("[data-argument=note] textarea").inputValue(), "as it was");
});
