// A server of one's own: a folder with a configuration and a script, the program on a port that stays, and people with a login each.

import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asPage } from "./every_tool.mjs";
import { closeContexts, freePort, launch, lineWith, serveFrom, stopped, until } from "./harness.mjs";

const WAIT_MS_MOST = 15_000;

export class OwnServer {
  #contexts = [];
  #storage = new Map();

  /** `config` is what stands below the parts that every server has; `files` are further ones that it names. */
  static async start(config, script = "", files = {}) {
    const own = new OwnServer();
    own.folder = await mkdtemp(join(tmpdir(), "holdpoint-own-"));
    own.port = await freePort();
    await own.configure(config);
    for (const [name, text] of Object.entries({ "script.toml": script, ...files })) await writeFile(join(own.folder, name), text, { mode: 0o600 });
    own.browser = await launch();
    try {
      const link = await own.serve();
      await own.logIn("ana", link);
    } catch (error) {
      await own.close();
      throw error;
    }
    return own;
  }

  /** What the program reads at its next start. */
  async configure(config) {
    await writeFile(join(this.folder, "holdpoint.toml"), `[server]\nlisten = "127.0.0.1:${this.port}"\n[store]\nurl = "sqlite:data"\n[models.script]\nprovider = "scripted"\nscript = "script.toml"\n${config}`);
  }

  /** Starts the program, and returns the login link that it prints. */
  async serve() {
    this.server = spawn(process.env.HOLDPOINT_BIN, ["serve"], { cwd: this.folder, stdio: ["ignore", "pipe", "ignore"] });
    return lineWith(this.server, /http\S+\/login\?code=\w+/);
  }

  /** Starts it again after a kill: people have their logins, and no link is printed. */
  serveAgain() {
    this.server = spawn(process.env.HOLDPOINT_BIN, ["serve"], { cwd: this.folder, stdio: ["ignore", "ignore", "ignore"] });
  }

  async kill() {
    const gone = new Promise((done) => this.server.once("exit", done));
    this.server.kill("SIGKILL");
    await gone;
  }

  url(path) {
    return `http://127.0.0.1:${this.port}${path}`;
  }

  async logIn(person, link) {
    const page = await this.page(person, {});
    await page.goto(link);
    await page.click("button");
    await page.locator(".shell").waitFor();
    this.#storage.set(person, await page.context().storageState());
  }

  /** A page of this person's own browser. */
  async page(person, options = {}) {
    const storageState = this.#storage.get(person);
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 900 }, locale: "en-US", ...(storageState ? { storageState } : {}), ...options });
    context.setDefaultTimeout(WAIT_MS_MOST);
    this.#contexts.push(context);
    if (process.env.HOLDPOINT_DIST) await serveFrom(process.env.HOLDPOINT_DIST, context);
    return context.newPage();
  }

  /** Says something to an agent as the person of this page, and returns the session's id. */
  async say(page, agent, text) {
    const session = await asPage(page, "POST", "/v1/sessions", { agent, title: text });
    await asPage(page, "POST", `/v1/sessions/${session.id}/messages`, { text });
    return session.id;
  }

  /** The hold at which a session stands still. */
  holdOf(page, session) {
    return until(`a hold of the session ${session}`, async () => (await asPage(page, "GET", "/v1/holds?state=pending&limit=100")).items.find((one) => one.session === session));
  }

  async closePages() {
    await closeContexts(this.#contexts.splice(0));
  }

  async close() {
    await this.browser.close();
    if (this.server) await stopped(this.server);
    await rm(this.folder, { recursive: true, force: true });
  }
}

export const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
