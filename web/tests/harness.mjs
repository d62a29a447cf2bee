// Starts the real program and a real browser, logs in once through the one-time link, and hands out pages.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { chromium } from "playwright-core";

const READY_MS_MOST = 30_000;
const WAIT_MS_MOST = 15_000;
// For what a test sets up and the product promises no time for: room enough on any busy machine, and still an end.
const UNTIL_MS_MOST = 60_000;

export async function open({ logIn = true } = {}) {
  const binary = process.env.HOLDPOINT_BIN;
  if (!binary) throw new Error("set HOLDPOINT_BIN to the holdpoint program that is to be tested");
  const data = await mkdtemp(join(tmpdir(), "holdpoint-web-"));
  const server = spawn(binary, ["demo", "--json", "--listen", "127.0.0.1:0", "--data", data], { stdio: ["ignore", "pipe", "inherit"] });
  const ready = JSON.parse(await lineWith(server, /.*/));
  const browser = await launch();
  const world = new World(server, data, ready, browser);
  try {
    if (logIn) await world.logIn();
  } catch (error) {
    // A program and a browser left behind would keep the test run from ending.
    await world.close();
    throw error;
  }
  return world;
}

export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
}

/** What of a line the pattern wants, as soon as the program prints such a line. */
export function lineWith(server, pattern) {
  return new Promise((done, fail) => {
    const timer = setTimeout(() => fail(new Error(`no line with ${pattern} within ${READY_MS_MOST} ms`)), READY_MS_MOST);
    server.once("exit", (code) => fail(new Error(`the program ended with ${code} before it was ready`)));
    server.once("error", fail);
    createInterface({ input: server.stdout }).on("line", (line) => {
      const found = pattern.exec(line);
      if (found === null) return;
      clearTimeout(timer);
      done(found[0]);
    });
  });
}

/** A time zone in which it is this hour of the day at that moment. Labels of times look different shortly before midnight, and a test must not. */
export function zoneAtHour(hour, now) {
  // Zones with a fixed offset reach from -12 to +14, and in the names of these the sign is turned round.
  const ahead = ((hour - now.getUTCHours() + 36) % 24) - 12;
  return `Etc/GMT${ahead > 0 ? "-" : "+"}${Math.abs(ahead)}`;
}

/** What `look` tells, as soon as it is something. `what` says in the failure what was awaited. */
export async function until(what, look) {
  const end = Date.now() + UNTIL_MS_MOST;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > end) throw new Error(`waited ${UNTIL_MS_MOST / 1000} s for ${what}`);
    await pause(25);
  }
}

/** Closes pages that may be in the middle of a request which a test answers: that answer then goes nowhere, and is no failure. */
export function closeContexts(contexts) {
  return Promise.all(
    contexts.map(async (context) => {
      const unrouted = [context, ...context.pages()].map((routed) => routed.unrouteAll({ behavior: "ignoreErrors" }));
      // Some tests close a page themselves.
      await Promise.all(unrouted).catch((error) => {
        if (!/has been closed/.test(error.message)) throw error;
      });
      await context.close();
    }),
  );
}

class World {
  #storage;
  #contexts = [];
  constructor(server, data, ready, browser) {
    Object.assign(this, { server, data, ready, browser });
  }

  async logIn() {
    const context = await this.browser.newContext();
    if (process.env.HOLDPOINT_DIST) await serveFrom(process.env.HOLDPOINT_DIST, context);
    const page = await context.newPage();
    await page.goto(this.ready.login);
    await page.click("button, input[type=submit]");
    await page.waitForSelector(".shell");
    this.#storage = await context.storageState();
    await context.close();
  }

  /** A page of its own context. What a person must never see (script errors, blocked content) is gathered in `page.troubles`. */
  async page({ loggedIn = true, ...options } = {}) {
    const context = await this.browser.newContext({
      viewport: { width: 1200, height: 900 },
      locale: "en-US",
      ...(loggedIn ? { storageState: this.#storage } : {}),
      ...options,
    });
    context.setDefaultTimeout(WAIT_MS_MOST);
    this.#contexts.push(context);
    if (process.env.HOLDPOINT_DIST) await serveFrom(process.env.HOLDPOINT_DIST, context);
    const page = await context.newPage();
    page.troubles = [];
    page.on("pageerror", (error) => page.troubles.push(String(error)));
    page.on("console", (message) => {
      if (/Content.Security.Policy|Refused to/i.test(message.text())) page.troubles.push(message.text());
    });
    page.on("dialog", (dialog) => {
      page.troubles.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    return page;
  }

  url(path) {
    return new URL(path, this.ready.url).href;
  }

  /** The API as someone else would use it: by token, not by the page's cookie. */
  async api(method, path, body, token = this.ready.person_token) {
    const reply = await fetch(this.url(path), {
      method,
      headers: { Authorization: `Bearer ${token}`, ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
    return text === "" ? null : JSON.parse(text);
  }

  hold(id) {
    return this.api("GET", `/v1/holds/${id}`);
  }

  /** A hold that an outside program opens. */
  openHold(body) {
    return this.api("POST", "/v1/holds", body, this.ready.program_token);
  }

  /** The hold at which a session stands still. */
  holdOf(session) {
    return until(`a hold of the session ${session}`, async () => (await this.api("GET", "/v1/holds?state=pending&limit=100")).items.find((one) => one.session === session));
  }

  /** Says a scenario on the page and waits for its holds. Returns their cards. */
  async scenario(page, name, count = 1) {
    await page.goto(this.url("/start"));
    await page.click(`[data-scenario="${name}"]`);
    const cards = page.locator(".chat [data-hold][data-state=pending]");
    await cards.nth(count - 1).waitFor();
    return cards;
  }

  /** After each test: a page left open would go on following events and slow down the next. */
  async closePages() {
    await closeContexts(this.#contexts.splice(0));
  }

  async close() {
    await this.browser.close();
    await stopped(this.server);
    await rm(this.data, { recursive: true, force: true });
  }
}

/** While one works on the page: its files come from a fresh build, all else from the program, which is not built again for it. */
export async function serveFrom(dist, context) {
  await context.route(/\/(assets\/|history$|start$|admin|sessions|holds\/|$|\?)[^?]*(\?.*)?$/, async (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname.startsWith("/v1/") || pathname.startsWith("/login")) return route.fallback();
    const shell = await route.fetch({ url: new URL("/", route.request().url()).href });
    const asset = pathname.startsWith("/assets/");
    const body = await readFile(join(dist, asset ? pathname : "index.html"));
    const type = pathname.endsWith(".css") ? "text/css" : asset ? "text/javascript" : "text/html; charset=utf-8";
    return route.fulfill({ status: 200, headers: { ...shell.headers(), "content-type": type }, body });
  });
}

/** The same port again after a restart, as on a real server: the page only knows this one. */
export function freePort() {
  return new Promise((done) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => done(port));
    });
  });
}

/** Stops a server. It still writes while it stops, so its folder can be removed only after it. */
export async function stopped(server) {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const gone = new Promise((done) => server.once("exit", done));
  server.kill();
  await gone;
}

/** Approves the card's call once, with the word that a critical one asks for. */
export async function approve(card) {
  const word = card.locator("input[name=word]");
  if (await word.count()) await word.fill(await card.locator(".confirm .chip").innerText());
  await card.locator("[data-approve]").click();
}

export async function holdId(card) {
  return card.getAttribute("data-hold");
}

/** The card by its id, which stays the same card when it settles. */
export function cardOf(page, id) {
  return page.locator(`article[data-hold="${id}"]`);
}

export function completed(page) {
  return page.locator("[data-run=completed]").waitFor();
}

/** Asserts that everything foreign that the server tells of a hold is drawn on its card, whole. */
export async function assertShown(card, hold) {
  const shown = (await card.locator("[data-testid=view]").textContent()).replaceAll("·", " ");
  const texts = [];
  const gather = (value) => {
    if (Array.isArray(value?.lines) && typeof value.bytes === "number") texts.push(...value.lines.flat());
    else if (value !== null && typeof value === "object") Object.values(value).forEach(gather);
  };
  hold.view.parts.filter((part) => part.label !== "title" && part.type !== "options" && part.type !== "form").forEach(gather);
  assert.ok(texts.length > 0);
  for (const text of texts) {
    const wanted = typeof text === "string" ? text : text.spaces ? ` ×${text.spaces}` : text.code;
    assert.ok(shown.includes(wanted.replaceAll("·", " ")), `${wanted} is not in ${shown}`);
  }
}

/** Fills a form by the hold's own schema, each kind of field in its own way. Returns what should have been sent. */
export async function fillBySchema(card, hold) {
  return fillFields(card, hold.schema?.properties ?? {}, "");
}

async function fillFields(card, properties, path) {
  const values = {};
  for (const [name, schema] of Object.entries(properties)) values[name] = await fillField(card, card.locator(`[data-path="${path}${name}"]`), schema, `${path}${name}`);
  return values;
}

async function fillField(card, field, schema, path) {
  if (schema.type === "array" && schema.items?.enum) {
    await field.locator("input[type=checkbox]").first().check();
    return [schema.items.enum[0]];
  }
  if (schema.enum) {
    await field.locator("input[type=radio]").first().check();
    return schema.enum[0];
  }
  if (schema.type === "object" && schema.properties) return fillFields(card, schema.properties, `${path}/`);
  if (schema.type === "array" && schema.items) return fillItems(card, field, schema.items, path);
  if (schema.type === "boolean") {
    await field.locator("input[value=true]").check();
    return true;
  }
  if (schema.type === "object" || schema.type === "array") {
    const value = schema.type === "array" ? [] : {};
    await field.locator("textarea").fill(JSON.stringify(value));
    return value;
  }
  const { typed, value } = simpleValue(schema);
  await field.locator("input, textarea").first().fill(typed);
  return schema.format === "date-time" ? field.evaluate((_, typed) => new Date(typed).toISOString().replace(".000Z", "Z"), typed) : value;
}

/** Two items, in their order. */
async function fillItems(card, field, items, path) {
  const values = [];
  for (let at = 0; at < 2; at++) {
    await field.locator("[data-add]").click();
    if (items.properties) values.push(await fillFields(card, items.properties, `${path}/${at}/`));
    else {
      const { typed, value } = simpleValue(items, at);
      await field.locator(".field-item").nth(at).locator("input, textarea").fill(typed);
      values.push(value);
    }
  }
  return values;
}

/** What is typed into a field of one line, and what should be sent for it. A moment is typed in the reader's own time. */
function simpleValue(schema, at = 0) {
  if (schema.type === "integer" || schema.type === "number") {
    const value = Math.min(Math.max(schema.minimum ?? 3, 3) + at, schema.maximum ?? Number.MAX_SAFE_INTEGER);
    return { typed: String(value), value };
  }
  const text = { email: "ana@example.org", date: "2030-01-31", "date-time": "2030-01-31T09:30" }[schema.format] ?? `some text${at === 0 ? "" : ` ${at}`}`;
  return { typed: text, value: text };
}
