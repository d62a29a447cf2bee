// A real server for the tests, and the person who answers.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const WITHIN_MS = 15_000;
let numbers = 0;

/** A title or key that no other test has. */
export const fresh = (word) => `${word} ${process.pid} ${++numbers}`;

/** `holdpoint demo` with its data in a folder, so that it can be killed and started again. */
export class Server {
  static async start() {
    const server = new Server();
    server.folder = await mkdtemp(join(tmpdir(), "holdpoint-clients-"));
    server.listen = "127.0.0.1:0";
    await server.start();
    return server;
  }

  async start() {
    const program = process.env.HOLDPOINT_BIN;
    if (!program) throw new Error("HOLDPOINT_BIN names the program to test");
    const words = ["demo", "--json", "--listen", this.listen, "--data", this.folder];
    this.process = spawn(program, words, { stdio: ["ignore", "pipe", "ignore"] });
    const [line] = await once(createInterface(this.process.stdout), "line");
    const told = JSON.parse(line);
    this.url = told.url;
    this.listen = told.url.slice("http://".length);
    this.token = told.program_token;
    this.person = new Person(told.url, told.person_token);
  }

  async kill() {
    const ended = once(this.process, "exit");
    this.process.kill("SIGKILL");
    await ended;
  }

  async close() {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Ana, who may answer everything. */
export class Person {
  constructor(url, token) {
    this.url = url;
    this.headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  }

  async ask(path, body, method = body === undefined ? "GET" : "POST") {
    const reply = await fetch(this.url + path, { method, headers: this.headers, body: body && JSON.stringify(body) });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${reply.status} ${text}`);
    return text && JSON.parse(text);
  }

  async pending(title) {
    const { items } = await this.ask("/v1/holds?state=pending&limit=100");
    return items.find((hold) => hold.title === title);
  }

  /** The open hold with this title, as soon as there is one. */
  async opened(title) {
    const signal = AbortSignal.timeout(WITHIN_MS);
    const stream = await fetch(`${this.url}/v1/events`, { headers: this.headers, signal });
    let found = await this.pending(title);
    for (const reader = stream.body.getReader(); !found; ) {
      await reader.read();
      found = await this.pending(title);
    }
    await stream.body.cancel().catch(() => undefined);
    return found;
  }

  answer(hold, answer) {
    return this.ask(`/v1/holds/${hold.id}/answer`, { digest: hold.digest, answer });
  }

  approve(hold, edited) {
    return this.answer(hold, { verdict: "approve", ...(edited ? { arguments: edited } : {}) });
  }

  deny(hold, reason) {
    return this.answer(hold, { verdict: "deny", reason });
  }

  show(id) {
    return this.ask(`/v1/holds/${id}`);
  }
}
