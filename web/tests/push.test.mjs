// Notices from end to end: the real program, a push service on this machine that is told what a browser would be told, and another
// implementation that reads it; and the service worker in a real browser.

import assert from "node:assert/strict";
import { createECDH, createPublicKey, randomBytes, verify } from "node:crypto";
import { createServer } from "node:http";
import { after, afterEach, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import ece from "http_ece";
import { until } from "./harness.mjs";
import { openTwo } from "./people.mjs";

let world, service;
before(async () => {
  service = await pushService();
  world = await openTwo({ permissions: ["notifications"] });
});
after(async () => {
  await world?.close();
  service?.close();
});
afterEach(() => {
  assert.deepEqual(world.ana.troubles.splice(0), []);
});

/** What a browser has, with its keys, and what its push service took for it. */
async function pushService() {
  const taken = [];
  const server = createServer((request, reply) => {
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
      taken.push({ path: request.url, headers: request.headers, body: Buffer.concat(parts) });
      reply.writeHead(201).end();
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const origin = `http://127.0.0.1:${server.address().port}`;
  return {
    taken,
    origin,
    close: () => server.close(),
    browser(name) {
      const keys = createECDH("prime256v1");
      const auth = randomBytes(16);
      keys.generateKeys();
      return {
        subscription: { endpoint: `${origin}/${name}`, keys: { p256dh: keys.getPublicKey("base64url"), auth: auth.toString("base64url") } },
        read: (body) => JSON.parse(ece.decrypt(body, { version: "aes128gcm", privateKey: keys, authSecret: auth }).toString().replace(/\0+$/, "")),
      };
    },
    /** Waits for the next message to a browser, after so many. */
    next: (name, before) => until(`a message to the browser of ${name}`, () => taken.slice(before).find((one) => one.path === `/${name}`)),
  };
}

const CANARY = "canary-7731";
const wipe = (risk = "high") =>
  world.openHold({ kind: "approve", title: `Delete ${CANARY}`, risk, call: { tool: "wipe", arguments: { table: CANARY } }, context: { note: CANARY } });

test("a browser can read its notice, its push service cannot, and it says nothing of the call", async () => {
  const { subscription, read } = service.browser("ben");
  await world.asks(world.ben, "POST", "/v1/me/push", { ...subscription, language: "en", name: "a test" });
  const hold = await wipe();
  const told = await service.next("ben", 0);
  assert.ok(!told.body.includes(CANARY) && !told.body.includes(hold.id));
  const notice = read(told.body);
  assert.deepEqual(notice, { kind: "asks", hold: hold.id, title: `${hold.tag} · Call a tool`, body: "High risk. It waits for your answer.", waiting: 1 });

  // The signature, as RFC 8292 has it.
  const [, token, key] = /^vapid t=([^,]+), k=(\S+)$/.exec(told.headers.authorization);
  const [head, claims, signature] = token.split(".");
  const point = Buffer.from(key, "base64url");
  const jwk = { kty: "EC", crv: "P-256", x: point.subarray(1, 33).toString("base64url"), y: point.subarray(33).toString("base64url") };
  const signer = { key: createPublicKey({ key: jwk, format: "jwk" }), dsaEncoding: "ieee-p1363" };
  assert.ok(verify("sha256", Buffer.from(`${head}.${claims}`), signer, Buffer.from(signature, "base64url")));
  const { aud, exp, sub } = JSON.parse(Buffer.from(claims, "base64url"));
  assert.deepEqual([aud, sub], [service.origin, "mailto:ops@example.com"]);
  assert.ok(exp > Date.now() / 1000 && exp < Date.now() / 1000 + 24 * 3600);
  assert.equal((await world.asks(world.ben, "GET", "/v1/me/push")).key, key, "the key that browsers subscribe with");

  let before = service.taken.length;
  await world.asks(world.ana, "POST", `/v1/holds/${hold.id}/comments`, { text: `@ben ${CANARY}` });
  assert.equal(read((await service.next("ben", before)).body).body, "A comment is addressed to you.");
  before = service.taken.length;
  await world.asks(world.ana, "POST", `/v1/holds/${hold.id}/answer`, { digest: hold.digest, answer: { verdict: "deny", reason: CANARY } });
  const settled = read((await service.next("ben", before)).body);
  assert.deepEqual([settled.kind, settled.body], ["settled", "Denied. Nothing is left for you to do."]);
  assert.ok(!JSON.stringify([notice, settled]).includes(CANARY));
});

test("each notice counts what waits for this person, and the one that takes a hold back counts one less", async () => {
  const { subscription, read } = service.browser("ben-counts");
  await world.asks(world.ben, "POST", "/v1/me/push", { ...subscription, language: "en", name: "a test of counts" });
  const next = async (act) => {
    const before = service.taken.length;
    const done = await act();
    const { kind, waiting } = read((await service.next("ben-counts", before)).body);
    return [kind, waiting, done];
  };
  const [asks, one, first] = await next(() => wipe());
  assert.deepEqual([asks, one], ["asks", 1]);
  // What waits for others alone is not his.
  const [more, two, second] = await next(async () => {
    await world.openHold({ kind: "approve", title: "for admins", risk: "high", call: { tool: "audit", arguments: {} } });
    return wipe();
  });
  assert.deepEqual([more, two], ["asks", 2]);
  const deny = (hold) => world.asks(world.ana, "POST", `/v1/holds/${hold.id}/answer`, { digest: hold.digest, answer: { verdict: "deny" } });
  assert.deepEqual((await next(() => deny(first))).slice(0, 2), ["settled", 1]);
  assert.deepEqual((await next(() => deny(second))).slice(0, 2), ["settled", 0]);
});

test("the switch subscribes this browser, in the reader's language, and logging out lets go of it and of the badge", async () => {
  const page = world.ana;
  const { subscription, read } = service.browser("ana");
  // A push service of a vendor is out of reach here; everything else is the page's own.
  await page.addInitScript((given) => {
    let now = null;
    const made = (options) => ({ options, toJSON: () => ({ ...given, expirationTime: null }), unsubscribe: async () => ((now = null), true) });
    PushManager.prototype.subscribe = async (options) => (now = made({ applicationServerKey: new Uint8Array(options.applicationServerKey).buffer }));
    PushManager.prototype.getSubscription = async () => now;
    window.badges = [];
    navigator.setAppBadge = async (count) => void window.badges.push(count);
    navigator.clearAppBadge = async () => void window.badges.push(0);
  }, subscription);
  await page.goto(world.origin);
  const hold = await wipe();
  await page.waitForFunction(() => window.badges.at(-1) > 0);
  await page.click("[data-nav=notices]");
  await page.getByRole("button", { name: "Tell me in this browser" }).click();
  await page.getByRole("button", { name: "Stop telling me in this browser" }).waitFor();
  const before = service.taken.length;
  const second = await wipe("critical");
  const told = read((await service.next("ana", before)).body);
  assert.deepEqual([told.hold, told.body], [second.id, "Critical risk. It waits for your answer."]);
  await page.keyboard.press("Escape");

  const worker = page.context().serviceWorkers()[0] ?? (await page.context().waitForEvent("serviceworker"));
  await world.asks(page, "POST", `/v1/holds/${hold.id}/answer`, { digest: hold.digest, answer: { verdict: "deny" } });
  assert.match(worker.url(), /\/sw\.js$/);

  await page.getByRole("button", { name: "Log out" }).click();
  await page.getByText("You are not logged in").waitFor();
  assert.equal(await page.evaluate(() => window.badges.at(-1)), 0);
  const rest = await wipe();
  await service.next("ben", before);
  await pause(500);
  assert.ok(!service.taken.slice(before + 1).some((one) => one.path === "/ana" && read(one.body).hold === rest.id), "nobody is logged in there");
});

test("the service worker shows a notice, takes it back when it is settled, and opens the card", async () => {
  const page = world.ben;
  const hold = await wipe();
  await page.goto(world.origin);
  await page.evaluate(() => navigator.serviceWorker.register("/sw.js"));
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
  // While it is being activated a message would be lost.
  await until("the worker to be active", () => page.evaluate(async () => (await navigator.serviceWorker.ready).active.state === "activated"));
  const debug = await page.context().newCDPSession(page);
  const registrations = [];
  debug.on("ServiceWorker.workerRegistrationUpdated", (event) => registrations.push(...event.registrations));
  await debug.send("ServiceWorker.enable");
  await until("the registration of the worker", () => registrations.length > 0);
  const worker = page.context().serviceWorkers().find((one) => one.url().endsWith("/sw.js")) ?? (await page.context().waitForEvent("serviceworker"));
  await worker.evaluate(() => {
    self.badges = [];
    navigator.setAppBadge = async (count) => void self.badges.push(count);
    navigator.clearAppBadge = async () => void self.badges.push(0);
  });
  const push = (data) => debug.send("ServiceWorker.deliverPushMessage", { origin: world.origin, registrationId: registrations[0].registrationId, data: JSON.stringify(data) });
  const shown = () => page.evaluate(async () => (await (await navigator.serviceWorker.ready).getNotifications()).map((one) => [one.title, one.body, one.tag]));
  const count = async (wanted) => {
    await until(`${wanted} notices`, async () => (await shown()).length === wanted);
    return shown();
  };
  await push({ kind: "asks", hold: hold.id, title: "ABC · Delete rows", body: "High risk. It waits for your answer.", waiting: 3 });
  assert.deepEqual(await count(1), [["ABC · Delete rows", "High risk. It waits for your answer.", hold.id]]);
  await push({ kind: "soon", hold: hold.id, title: "ABC · Delete rows", body: "It expires soon.", waiting: 2 });
  await until("the second notice", async () => (await shown())[0]?.[1] === "It expires soon.");
  assert.equal((await shown()).length, 1, "one hold is one notice");
  await push({ kind: "settled", hold: hold.id, title: "ABC · Delete rows", body: "Denied.", waiting: 1 });
  assert.deepEqual(await count(0), []);
  // It was put away by the person: nothing is left to take back, and the count is told all the same.
  await push({ kind: "settled", hold: hold.id, title: "ABC · Delete rows", body: "Denied.", waiting: 0 });
  // What is no notice of ours shows nothing and counts nothing, and one of an older server counts nothing.
  await push({ kind: "asks", hold: "../../evil", title: "x", body: "y", waiting: 66 });
  for (const waiting of [undefined, -1, 1.5, "7", null]) await push({ kind: "asks", hold: hold.id, title: "ABC · Delete rows", body: `again ${waiting}`, waiting });
  await until("the last notice", async () => (await shown())[0]?.[1] === "again null");
  assert.equal((await shown()).length, 1);
  assert.deepEqual(await worker.evaluate(() => self.badges), [3, 2, 1, 0], "the count on the icon");

  await page.evaluate(() => (navigator.serviceWorker.controller ? null : new Promise((done) => navigator.serviceWorker.addEventListener("controllerchange", done))));
  await worker.evaluate(async () => {
    const [notification] = await registration.getNotifications();
    dispatchEvent(new NotificationEvent("notificationclick", { notification }));
  });
  await page.waitForURL(`**/holds/${hold.id}`);
  assert.deepEqual(await count(0), [], "it was read");
});

test("the page can be installed, and nothing of it or of a hold is kept by the worker", async () => {
  const page = world.ben;
  await page.goto(world.origin);
  const debug = await page.context().newCDPSession(page);
  const manifest = await debug.send("Page.getAppManifest");
  assert.deepEqual(manifest.errors, []);
  const { icons } = JSON.parse(manifest.data);
  for (const { src, sizes } of icons) {
    const drawn = await page.evaluate((src) => new Promise((done) => Object.assign(new Image(), { src, onload: (event) => done(`${event.target.naturalWidth}x${event.target.naturalHeight}`) })), src);
    assert.equal(drawn, sizes, src);
  }
  assert.ok(icons.some((icon) => icon.purpose === "maskable"));
  assert.deepEqual(await page.evaluate(() => caches.keys()), []);
  // While one works on the page its files come from elsewhere, which no network is needed for.
  await page.context().unrouteAll();
  await page.context().setOffline(true);
  // An old page without a word about it would be worse than none.
  await assert.rejects(page.reload(), /ERR_INTERNET_DISCONNECTED|ERR_FAILED/);
  await page.context().setOffline(false);
});
