// Files: attached by button, paste and drop, shown in the session and on cards, and never as anything but what they are.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { deflateSync } from "node:zlib";
import { approve, completed, lineWith, open, stopped, until } from "./harness.mjs";

let world;
before(async () => {
  world = await open();
});
afterEach(() => world.closePages());
after(async () => {
  await world?.close();
});

/** A picture that a browser can draw. */
function png(width, height) {
  const table = Uint32Array.from({ length: 256 }, (_, n) => Array.from({ length: 8 }).reduce((c) => (c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1), n));
  const crc = (bytes) => (bytes.reduce((c, byte) => table[(c ^ byte) & 255] ^ (c >>> 8), 0xffffffff) ^ 0xffffffff) >>> 0;
  const chunk = (name, data) => {
    const body = Buffer.concat([Buffer.from(name), data]);
    const out = Buffer.alloc(body.length + 8);
    out.writeUInt32BE(data.length, 0);
    body.copy(out, 4);
    out.writeUInt32BE(crc(body), body.length + 4);
    return out;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const rows = Buffer.concat(Array.from({ length: height }, () => Buffer.concat([Buffer.from([0]), Buffer.alloc(width * 3, 0x88)])));
  return Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), chunk("IHDR", head), chunk("IDAT", deflateSync(rows)), chunk("IEND", Buffer.alloc(0))]);
}

const PICTURE = { name: "photo.png", mimeType: "image/png", buffer: png(60, 40) };

async function session(options = {}) {
  const page = await world.page(options);
  const cards = await world.scenario(page, "approve");
  await approve(cards.first());
  await completed(page);
  return page;
}

async function upload(name, bytes) {
  const reply = await fetch(world.url(`/v1/files?name=${encodeURIComponent(name)}`), { method: "POST", headers: { Authorization: `Bearer ${world.ready.program_token}` }, body: bytes });
  assert.equal(reply.status, 201);
  return reply.json();
}

test("a picture is attached, sent, and shown in the session", async () => {
  const page = await session();
  const composer = page.locator(".composer");
  await composer.locator("input[name=files]").setInputFiles([PICTURE, { name: "orders.csv", mimeType: "text/html", buffer: Buffer.from("id,name\n1,ana\n") }]);
  await composer.locator("[data-attachment=there]").nth(1).waitFor();
  assert.equal(await composer.locator("[data-attachment]").count(), 2);
  await page.waitForFunction(() => document.querySelector(".composer img")?.naturalWidth === 60);
  // One is taken back.
  await composer.locator("[data-attachment]", { hasText: "orders.csv" }).getByRole("button").click();
  assert.equal(await composer.locator("[data-attachment]").count(), 1);
  await composer.locator("textarea").fill("What is it?");
  await composer.locator("button[type=submit]").click();
  const picture = page.locator(".messages .from-user [data-file] img");
  await picture.waitFor();
  await page.waitForFunction(() => document.querySelector(".messages [data-file] img")?.naturalWidth === 60);
  assert.match(await page.locator(".messages [data-file] figcaption").innerText(), /photo\.png[\s\S]*image\/png[\s\S]*60×40/);
  assert.equal(await composer.locator("[data-attachment]").count(), 0);
  await page.reload();
  await picture.waitFor();
  assert.deepEqual(page.troubles, []);
});

for (const where of ["/start", "/sessions"]) {
  test(`the first message of a session takes files along: at ${where}`, async () => {
    const page = await world.page();
    await page.goto(world.url(where));
    const composer = page.locator(".new-session .composer");
    await composer.locator("input[name=files]").setInputFiles([PICTURE, { name: "orders.csv", mimeType: "text/html", buffer: Buffer.from("id,name\n1,ana\n") }]);
    await composer.locator("[data-attachment=there]").nth(1).waitFor();
    if (where === "/start") await composer.locator("textarea").fill("What is it?");
    await composer.locator("button[type=submit]").click();
    await page.waitForURL(/\/sessions\/ses_/);
    await page.locator(".messages .from-user [data-file]").nth(1).waitFor();
    const session = await world.api("GET", `/v1${new URL(page.url()).pathname}`);
    const parts = session.messages[0].parts;
    assert.deepEqual(parts.filter((part) => part.type === "file").map((part) => part.name), ["photo.png", "orders.csv"]);
    assert.equal(parts.find((part) => part.type === "text")?.text ?? "", where === "/start" ? "What is it?" : "");
    assert.deepEqual(page.troubles, []);
  });
}

test("files are pasted and dropped, and go without words", async () => {
  const page = await session();
  const composer = page.locator(".composer");
  for (const kind of ["paste", "drop"]) {
    await composer.evaluate((form, kind) => {
      const data = new DataTransfer();
      data.items.add(new File([`${kind}ed`], `${kind}.txt`, { type: "text/plain" }));
      const event = kind === "paste" ? new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }) : new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
      form.querySelector("textarea").dispatchEvent(event);
    }, kind);
  }
  await composer.locator("[data-attachment=there]").nth(1).waitFor();
  await composer.locator("button[type=submit]").click();
  await page.locator(".messages [data-file]").nth(1).waitFor();
  const names = await page.locator(".messages [data-file] .chip").allInnerTexts();
  assert.deepEqual(names, ["paste.txt", "drop.txt"]);
  assert.equal(await page.locator(".messages [data-file] img").count(), 0);
});

test("a broken upload says so, and can be tried again", async () => {
  const page = await session();
  const composer = page.locator(".composer");
  await page.route("**/v1/files?*", (route) => route.abort());
  await composer.locator("input[name=files]").setInputFiles([PICTURE]);
  const refused = composer.locator("[data-attachment=refused]");
  await refused.waitFor();
  await composer.locator("textarea").fill("What is it?");
  assert.ok(await composer.locator("button[type=submit]").isDisabled(), "a message does not go without its file");
  await page.unroute("**/v1/files?*");
  await refused.getByRole("button", { name: "Try again" }).click();
  await composer.locator("[data-attachment=there]").waitFor();
  assert.ok(await composer.locator("button[type=submit]").isEnabled());
});

test("a card shows the files that its call names, and nothing of them runs", async () => {
  const picture = await upload("photo\u202egnp.exe.png", PICTURE.buffer);
  const drawing = await upload("drawing.svg", Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"));
  const gone = `file_${"0".repeat(26)}`;
  const hold = await world.openHold({ kind: "approve", title: "Print these", call: { tool: "print", arguments: { files: [picture.id, drawing.id, gone], note: `see ${picture.id}` } } });
  const page = await world.page();
  await page.goto(world.url(`/holds/${hold.id}`));
  const files = page.locator(".call-files");
  await files.locator("[data-file]").nth(1).waitFor();
  await page.waitForFunction(() => document.querySelector(".call-files img")?.naturalWidth === 60);
  assert.equal(await files.locator("img").count(), 1, "a drawing is no picture");
  const shown = await files.innerText();
  for (const part of ["U+202E", picture.digest, "drawing.svg", "text/plain", gone]) assert.ok(shown.includes(part), `${part} in ${shown}`);
  assert.equal(await files.locator(`[data-unseen="${gone}"]`).count(), 1);
  // Opened by hand, it is a text to be saved.
  const reply = await fetch(world.url(`/v1/files/${drawing.id}`), { headers: { Authorization: `Bearer ${world.ready.person_token}` } });
  assert.match(reply.headers.get("content-type"), /^text\/plain/);
  assert.match(reply.headers.get("content-disposition"), /^attachment/);
  assert.deepEqual(page.troubles, []);
});

test("a phone can take a photo, in Chinese too", async () => {
  const page = await session({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  await page.locator(".composer").getByRole("button", { name: "Take a photo" }).waitFor();
  assert.equal(await page.locator("input[name=photo]").getAttribute("capture"), "environment");
  await page.evaluate(() => localStorage.setItem("holdpoint.language", "zh"));
  await page.reload();
  await page.locator(".composer").getByRole("button", { name: "拍照" }).waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0);
});

test("no acknowledged file is lost when the server is killed in the middle of uploads", async () => {
  const data = await mkdtemp(join(tmpdir(), "holdpoint-files-"));
  const acknowledged = new Map();
  let running;
  try {
    for (let round = 0; round < 4; round += 1) {
      const { server, ready } = await startDemo(data);
      running = server;
      const headers = { Authorization: `Bearer ${ready.program_token}` };
      for (const [id, bytes] of acknowledged) {
        const reply = await fetch(new URL(`/v1/files/${id}`, ready.url), { headers });
        assert.equal(reply.status, 200, `${id} in round ${round}`);
        assert.ok(Buffer.from(await reply.arrayBuffer()).equals(bytes));
      }
      assert.deepEqual(await readdir(join(data, "files", "new")).catch(() => []), [], "what was cut is gone");
      let alive = true;
      const senders = [1, 2, 3].map(async (sender) => {
        for (let number = 0; alive; number += 1) {
          const bytes = Buffer.alloc(200_000, `${round}.${sender}.${number};`);
          try {
            const reply = await fetch(new URL("/v1/files?name=x", ready.url), { method: "POST", headers, body: bytes });
            if (reply.status === 201) acknowledged.set((await reply.json()).id, bytes);
          } catch {
            return;
          }
        }
      });
      const before = acknowledged.size;
      const wanted = before + 3 + round * 2;
      await until(`${wanted} acknowledged files`, () => acknowledged.size >= wanted);
      const gone = new Promise((done) => server.once("exit", done));
      server.kill("SIGKILL");
      alive = false;
      await Promise.all([gone, ...senders]);
    }
  } finally {
    // A program left behind by a failure would keep the test run from ending.
    if (running) await stopped(running);
    await rm(data, { recursive: true, force: true });
  }
  assert.ok(acknowledged.size >= 12, `${acknowledged.size} uploads were acknowledged`);
});

async function startDemo(data) {
  const server = spawn(process.env.HOLDPOINT_BIN, ["demo", "--json", "--listen", "127.0.0.1:0", "--data", data], { stdio: ["ignore", "pipe", "inherit"] });
  return { server, ready: JSON.parse(await lineWith(server, /\{.*\}/)) };
}
