// Client tools that the page carries out: yes or no, a text, one of a list, a file, the clipboard, where one is. Each begins with a
// press, what was read is shown before it goes, and the agent gets exactly that.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { assertAccessible } from "./axe.mjs";
import { asPage } from "./every_tool.mjs";
import { freePort, launch, lineWith, serveFrom, stopped, until } from "./harness.mjs";

const CALLS = {
  user_confirm: { message: "Publish the release note now?" },
  user_input: { prompt: "Which name goes on the invoice?" },
  selectOption: { options: ["Europe", { value: "asia-1", label: "Asia" }] },
  pick_file: { accept: "text/*" },
  clipboard_read: {},
  clipboard_write: { text: "ssh deploy@example.org" },
  browser_location: { accuracy: "city" },
  turn_the_key: { door: 3 },
};

const toml = (value) => {
  if (Array.isArray(value)) return `[${value.map(toml).join(", ")}]`;
  if (typeof value === "object") return `{ ${Object.entries(value).map(([key, one]) => `${key} = ${toml(one)}`).join(", ")} }`;
  return JSON.stringify(value);
};
const tools = Object.keys(CALLS).map((name) => `[[tools]]\nname = "${name}"\nkind = "client"\ndescription = "Done in the browser."\ninput_schema = { type = "object" }\n`);
const config = (port) => `
[server]
listen = "127.0.0.1:${port}"
[store]
url = "sqlite:data"
[models.script]
provider = "scripted"
script = "script.toml"
[[agents]]
id = "helper"
model = "script"
instructions = "Help."
tools = ${JSON.stringify(Object.keys(CALLS))}
${tools.join("")}
[[people]]
id = "ana"
name = "Ana"
roles = ["admin"]
`;
const script = Object.entries(CALLS)
  .map(([name, args]) => `[[turn]]\nwhen = { says = "${name}" }\ncalls = [{ tool = "${name}", arguments = ${toml(args)} }]\n[[turn]]\nwhen = { says = "${name}", result_of = "${name}" }\ntext = "I was told: {result}"\n`)
  .join("");

let folder, browser, server, link, storage;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdpoint-performs-"));
  await writeFile(join(folder, "holdpoint.toml"), config(await freePort()));
  await writeFile(join(folder, "script.toml"), script);
  server = spawn(process.env.HOLDPOINT_BIN, ["serve"], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  link = await lineWith(server, /http\S+\/login\?code=\w+/);
  browser = await launch();
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(link);
  await page.click("button");
  await page.locator("main, .shell").first().waitFor();
  storage = await context.storageState();
  await context.close();
});
const contexts = [];
afterEach(() => Promise.all(contexts.splice(0).map((context) => context.close())));
after(async () => {
  await browser?.close();
  if (server) await stopped(server);
  await rm(folder, { recursive: true, force: true });
});

/** The card of a call, on its own page. */
async function open(tool, options = {}) {
  const context = await browser.newContext({ locale: "en-US", storageState: storage, ...options });
  contexts.push(context);
  context.setDefaultTimeout(15_000);
  if (process.env.HOLDPOINT_DIST) await serveFrom(process.env.HOLDPOINT_DIST, context);
  const page = await context.newPage();
  await page.goto(new URL("/", link).href);
  const session = await asPage(page, "POST", "/v1/sessions", { agent: "helper", title: tool });
  await asPage(page, "POST", `/v1/sessions/${session.id}/messages`, { text: tool });
  const hold = await until(`a hold for ${tool}`, async () => (await asPage(page, "GET", "/v1/holds?state=pending&limit=100")).items.find((one) => one.session === session.id));
  await page.goto(new URL(`/holds/${hold.id}`, link).href);
  const card = page.locator(`article[data-hold="${hold.id}"]`);
  await card.locator(".bar button.primary:not([disabled])").waitFor();
  const told = async () => {
    await card.locator("[data-settled=answered]").waitFor();
    return (await asPage(page, "GET", `/v1/holds/${hold.id}`)).decision.perform;
  };
  return { page, card, told };
}

const give = (card) => card.getByRole("button", { name: "Give the result" }).click();
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

test("confirm: one press says yes, another no", async () => {
  for (const [button, word] of [["Answer yes", "yes"], ["Answer no", "no"]]) {
    const { page, card, told } = await open("user_confirm", word === "no" ? PHONE : {});
    assert.match(await card.innerText(), /Publish the release note now\?/);
    await assertAccessible(page, "confirm");
    await card.getByRole("button", { name: button }).click();
    assert.deepEqual(await told(), { content: word, is_error: false });
  }
});

test("input: an empty text is not sent, and what is typed arrives as typed", async () => {
  const { page, card, told } = await open("user_input");
  await give(card);
  assert.match(await card.locator(".field-error").innerText(), /required/);
  await card.getByLabel("Your text").fill("  Ruiz & Søn \"GmbH\"");
  await assertAccessible(page, "input");
  await give(card);
  assert.equal((await told()).content, "  Ruiz & Søn \"GmbH\"");
});

test("select: the value that belongs to the label is sent", async () => {
  const { page, card, told } = await open("selectOption");
  assert.equal(await card.locator(".choices input:checked").count(), 0, "nothing is preselected");
  await give(card);
  assert.match(await card.locator(".field-error").innerText(), /Nothing is chosen/);
  await card.getByRole("radio", { name: "Asia" }).check();
  await assertAccessible(page, "select");
  await give(card);
  assert.equal((await told()).content, "asia-1");
});

test("file: a text is shown whole before it goes, anything else only by name and size", async () => {
  const { page, card, told } = await open("pick_file");
  await give(card);
  assert.match(await card.locator(".field-error").innerText(), /nothing to give yet/);
  const input = card.locator("input[type=file]");
  await input.setInputFiles({ name: "photo.bin", mimeType: "application/octet-stream", buffer: Buffer.from([0xff, 0xfe, 0, 1]) });
  await card.getByText("This file is no text").waitFor();
  await input.setInputFiles({ name: "long.txt", mimeType: "text/plain", buffer: Buffer.from("x".repeat(70_000)) });
  await card.getByText("more than 65,536 bytes").waitFor();
  await input.setInputFiles({ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("first\nsecond") });
  await card.locator("[data-given]", { hasText: "first\\nsecond" }).waitFor();
  await assertAccessible(page, "file");
  await give(card);
  assert.deepEqual(JSON.parse((await told()).content), { name: "notes.txt", media_type: "text/plain", bytes: 12, text: "first\nsecond" });
});

test("clipboard: it is read at a press and shown; a refusal of the browser is told, and one can still answer by hand", async () => {
  const { page, card, told } = await open("clipboard_read", { permissions: ["clipboard-read", "clipboard-write"] });
  await page.evaluate(() => navigator.clipboard.writeText("copied earlier"));
  assert.equal(await card.locator("textarea:not(.comments *)").count(), 0, "nothing is read by itself");
  await card.getByRole("button", { name: "Read my clipboard" }).click();
  const field = card.getByLabel("What the agent gets");
  assert.equal(await field.inputValue(), "copied earlier");
  await field.fill("a part of it");
  await assertAccessible(page, "clipboard");
  await give(card);
  assert.equal((await told()).content, "a part of it");

  const refused = await open("clipboard_read", { permissions: [] });
  await refused.page.evaluate(() => Object.defineProperty(navigator.clipboard, "readText", { value: () => Promise.reject(new Error("no")) }));
  await refused.card.getByRole("button", { name: "Read my clipboard" }).click();
  await refused.card.locator("[data-step=refused]").waitFor();
  await refused.card.getByRole("button", { name: "Write the result yourself" }).click();
  await refused.card.locator("textarea[name=content]").fill("I would rather not");
  await refused.card.getByLabel("It did not work (this is an error)").check();
  await give(refused.card);
  assert.deepEqual(await refused.told(), { content: "I would rather not", is_error: true });
});

test("clipboard: a text is copied only at a press, and only then can it be said to be", async () => {
  const { page, card, told } = await open("clipboard_write", { permissions: ["clipboard-read", "clipboard-write"] });
  await page.evaluate(() => navigator.clipboard.writeText("mine"));
  await give(card);
  assert.match(await card.locator(".field-error").innerText(), /nothing to give yet/);
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "mine");
  await card.getByRole("button", { name: "Copy to my clipboard" }).click();
  await card.getByText("Copied.").waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "ssh deploy@example.org");
  await give(card);
  assert.equal((await told()).content, "copied");
});

test("location: asked for a city, the agent gets about a kilometre, and the person sees it first", async () => {
  const { page, card, told } = await open("browser_location", { ...PHONE, permissions: ["geolocation"], geolocation: { latitude: 52.520008, longitude: 13.404954, accuracy: 12 } });
  await card.getByRole("button", { name: "Find my location" }).click();
  await card.locator("[data-given]", { hasText: "52.52" }).waitFor();
  await assertAccessible(page, "location");
  await give(card);
  assert.deepEqual(JSON.parse((await told()).content), { latitude: 52.52, longitude: 13.4, accuracy_m: 1000 });
});

const SECOND_CORNER = { ...PHONE, locale: "zh-CN", colorScheme: "dark", permissions: ["geolocation", "clipboard-read", "clipboard-write"], geolocation: { latitude: 31.230416, longitude: 121.473701, accuracy: 9 } };
const DONE_THERE = {
  user_confirm: async (card) => {
    await card.locator("[data-perform=no]").tap();
    return "no";
  },
  user_input: async (card) => {
    await card.locator("textarea[name=content]").fill("上海某某有限公司");
    return "上海某某有限公司";
  },
  selectOption: async (card) => {
    await card.locator(".choices label").nth(1).tap();
    return "asia-1";
  },
  pick_file: async (card) => {
    await card.locator("input[type=file]").setInputFiles({ name: "说明.txt", mimeType: "text/plain", buffer: Buffer.from("第一行\n第二行") });
    await card.locator("[data-given]", { hasText: "第一行\\n第二行" }).waitFor();
    return (content) => assert.deepEqual(JSON.parse(content), { name: "说明.txt", media_type: "text/plain", bytes: 19, text: "第一行\n第二行" });
  },
  clipboard_read: async (card, page) => {
    await page.evaluate(() => navigator.clipboard.writeText("复制的内容"));
    await card.locator("[data-perform=paste]").tap();
    assert.equal(await card.locator(".answer-form textarea[name=content]").inputValue(), "复制的内容");
    return "复制的内容";
  },
  clipboard_write: async (card, page) => {
    await card.locator("[data-perform=copy]").tap();
    await card.locator(".answer-form [role=status]", { hasText: "已复制" }).waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "ssh deploy@example.org");
    return "copied";
  },
  browser_location: async (card) => {
    await card.locator("[data-perform=location]").tap();
    await card.locator("[data-given]", { hasText: "121.47" }).waitFor();
    return (content) => assert.deepEqual(JSON.parse(content), { latitude: 31.23, longitude: 121.47, accuracy_m: 1000 });
  },
};

for (const [tool, carryOut] of Object.entries(DONE_THERE)) {
  test(`${tool} on a phone, in Chinese, dark`, async () => {
    const { page, card, told } = await open(tool, SECOND_CORNER);
    await assertAccessible(page, `${tool}, asked`);
    const result = await carryOut(card, page);
    // A yes or no is sent with its press; all else is shown first and given with a second one.
    if (tool !== "user_confirm") {
      await assertAccessible(page, `${tool}, ready`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${tool}: ${wide} px too wide`);
      await card.locator(".bar-in button.primary:not([disabled])").tap();
    }
    const { content, is_error } = await told();
    assert.equal(is_error, false);
    if (typeof result === "string") assert.equal(content, result);
    else result(content);
    assert.ok(!/Give|Answer|Decline|Your /.test(await card.innerText()), "no English word is left");
    await assertAccessible(page, `${tool}, done`);
  });
}

test("any other task is answered by hand, in Chinese too", async () => {
  const { page, card, told } = await open("turn_the_key", { locale: "zh-CN", colorScheme: "dark" });
  assert.equal(await card.getByRole("button", { name: "自己填写结果" }).count(), 0, "there is no other way");
  await card.locator("textarea[name=content]").fill("门已打开");
  await assertAccessible(page, "by hand");
  await card.getByRole("button", { name: "给出结果" }).click();
  assert.deepEqual(await told(), { content: "门已打开", is_error: false });
});
