// The server dies while a call runs. The page that stood open says that the outcome is unknown, and a person settles it.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { cardOf, freePort, holdId, launch, lineWith, serveFrom, stopped, until } from "./harness.mjs";

const CONFIG = (folder, port) => `
[server]
listen = "127.0.0.1:${port}"
[store]
url = "sqlite:data"
[models.script]
provider = "scripted"
script = "script.toml"
[[agents]]
id = "ops"
model = "script"
instructions = "Deploy."
tools = ["deploy"]
[[tools]]
name = "deploy"
kind = "command"
description = "Deploys a project."
argv = ["sh", "-c", "touch '${folder}/begun'; sleep 60"]
effects = "at_most_once"
[tools.input_schema]
type = "object"
properties = { project = { type = "string" }, token = { type = "string", writeOnly = true } }
[[people]]
id = "ana"
name = "Ana"
roles = ["admin"]
`;

const SCRIPT = `
[[turn]]
when = { says = "Deploy." }
text = "I will deploy it."
calls = [{ tool = "deploy", arguments = { project = "shop", token = "canary-5512" } }]
[[turn]]
when = { says = "Deploy.", result_of = "deploy" }
text = "I was told: {result}"
`;

let folder, browser, server;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdpoint-web-"));
  await writeFile(join(folder, "holdpoint.toml"), CONFIG(folder, await freePort()));
  await writeFile(join(folder, "script.toml"), SCRIPT);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  if (server) await stopped(server);
  await rm(folder, { recursive: true, force: true });
});

function serve() {
  server = spawn(process.env.HOLDPOINT_BIN, ["serve"], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  return server;
}

test("a call that a crash interrupted is told as unknown, and settled by a person", async () => {
  const line = await lineWith(serve(), /http\S+\/login\?code=\w+/);
  const context = await browser.newContext({ locale: "en-US" });
  if (process.env.HOLDPOINT_DIST) await serveFrom(process.env.HOLDPOINT_DIST, context);
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  await page.goto(line);
  await page.click("button");
  await page.locator(".shell").waitFor();
  await page.goto(new URL("/start", page.url()).href);
  await page.locator("textarea[name=say]").fill("Deploy.");
  await page.keyboard.press("Control+Enter");
  const pending = page.locator(".chat [data-hold][data-state=pending]").first();
  await pending.waitFor();
  const card = cardOf(page, await holdId(pending));
  await card.getByRole("button", { name: "Approve once" }).click();
  await card.locator("[data-outcome=executing]").waitFor();
  // That it runs is told before it has begun; a call that has not is simply started again.
  await until("the call to begin", () => existsSync(join(folder, "begun")));

  const gone = new Promise((done) => server.once("exit", done));
  server.kill("SIGKILL");
  await gone;
  await page.locator(".banner-offline").waitFor();
  serve();

  await card.locator("[data-outcome=unknown]").waitFor();
  await page.locator(".banner-offline").waitFor({ state: "detached" });
  const settle = page.locator("[data-hold][data-kind=settle]");
  await settle.getByRole("button", { name: "Record what happened" }).click();
  assert.match(await settle.locator(".field-error").innerText(), /Say what happened/);
  await settle.getByLabel("It did happen").check();
  await settle.locator("textarea[name=content]").fill("version 12 is up");
  await settle.getByRole("button", { name: "Record: It did happen" }).click();

  await card.locator("[data-outcome=succeeded]").waitFor();
  await page.locator("[data-run=completed]").waitFor();
  assert.match(await page.locator(".tool .result").first().innerText(), /version 12 is up/);
  assert.doesNotMatch(await page.content(), /canary-5512/);
});
