// The real program with two people and a program that asks, for what takes more than one person. Notices may go to this machine.

import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, launch, lineWith, serveFrom, stopped } from "./harness.mjs";

const CONFIG = (port) => `
[server]
listen = "127.0.0.1:${port}"
[store]
url = "sqlite:data"
[push]
contact = "mailto:ops@example.com"
allow_private_addresses = true
[[people]]
id = "ana"
name = "Ana"
roles = ["admin", "dba"]
[[people]]
id = "ben"
name = "Ben"
roles = ["dba"]
[policy]
[[policy.rules]]
name = "the log is for admins"
then = "ask"
match = { tool = "audit" }
ask = { roles = ["admin"] }
[[policy.rules]]
name = "dbas decide"
then = "ask"
ask = { roles = ["dba"] }
`;

export async function openTwo(options = {}) {
  const folder = await mkdtemp(join(tmpdir(), "holdpoint-two-"));
  await writeFile(join(folder, "holdpoint.toml"), CONFIG(await freePort()));
  const server = spawn(process.env.HOLDPOINT_BIN, ["serve"], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  const login = await lineWith(server, /http\S+\/login\?code=\w+/);
  const browser = await launch();
  const world = new Two(folder, server, browser, new URL(login).origin, options);
  world.ana = await world.logIn(login);
  const { url } = await world.asks(world.ana, "POST", "/v1/logins", { person: "ben" });
  world.ben = await world.logIn(new URL(url, world.origin).href);
  world.token = (await world.asks(world.ana, "POST", "/v1/tokens", { program: "deployer", scopes: ["ask"] })).token;
  return world;
}

class Two {
  constructor(folder, server, browser, origin, options) {
    Object.assign(this, { folder, server, browser, origin, options });
  }

  async logIn(link) {
    const context = await this.browser.newContext({ locale: "en-US", viewport: { width: 1200, height: 900 }, ...this.options });
    context.setDefaultTimeout(15_000);
    if (process.env.HOLDPOINT_DIST) await serveFrom(process.env.HOLDPOINT_DIST, context);
    const page = await context.newPage();
    page.troubles = [];
    page.on("pageerror", (error) => page.troubles.push(String(error)));
    page.on("console", (message) => {
      if (/Content.Security.Policy|Refused to/i.test(message.text())) page.troubles.push(message.text());
    });
    await page.goto(link);
    await page.click("button, input[type=submit]");
    await page.locator(".shell").waitFor();
    return page;
  }

  /** What the person of a page asks of the API, by their own login. */
  async asks(page, method, path, body) {
    const told = await page.evaluate(
      async ([method, path, body]) => {
        const { csrf } = await (await fetch("/v1/me")).json();
        const headers = { "X-Holdpoint-CSRF": csrf, "Content-Type": "application/json" };
        const reply = await fetch(path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
        return { status: reply.status, text: await reply.text() };
      },
      [method, path, body],
    );
    if (told.status >= 300) throw new Error(`${method} ${path}: ${told.status} ${told.text}`);
    return told.text === "" ? null : JSON.parse(told.text);
  }

  /** A hold that the program opens. */
  async openHold(body) {
    const reply = await fetch(`${this.origin}/v1/holds`, { method: "POST", headers: { Authorization: `Bearer ${this.token}`, "Content-Type": "application/json" }, body: JSON.stringify(body) });
    if (!reply.ok) throw new Error(`${reply.status} ${await reply.text()}`);
    return reply.json();
  }

  async close() {
    await this.browser.close();
    await stopped(this.server);
    await rm(this.folder, { recursive: true, force: true });
  }
}
