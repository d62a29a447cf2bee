// A Holdpoint with one MCP server with `auth = "oauth"`: as tools of an agent, or fronted under `/mcp/notes`.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

import { Browser } from "./partner.mjs";

const { HOLDPOINT_BIN } = process.env;
const children = new Set();
process.on("exit", () => children.forEach((child) => child.kill("SIGKILL")));

const SCRIPT = `
[[turn]]
when = { says = "write" }
calls = [{ tool = "notes__write_note" }]

[[turn]]
when = { says = "echo" }
calls = [{ tool = "notes__echo_token" }]

[[turn]]
when = { is_error = false }
text = "Done: {result}"

[[turn]]
when = { is_error = true }
text = "Failed: {result}"
`;

const AGENT = `
[models.scripted]
provider = "scripted"
script = "script.toml"

[[agents]]
id = "worker"
model = "scripted"
tools = ["notes"]

[[tools]]
name = "notes"
kind = "mcp"
`;

const settings = (port, url, more, fronted) => `
[server]
listen = "127.0.0.1:${port}"

[store]
url = "sqlite:data"
${fronted ? "[mcp.upstreams.notes]" : AGENT}
url = "${url}"
auth = "oauth"
${more}

[policy]
default = "ask"

[[policy.rules]]
name = "echoes are free"
match = { tool = "notes__echo_token" }
then = "allow"

[[people]]
id = "ana"
name = "Ana"
roles = ["admin"]

[[people]]
id = "bea"
name = "Bea"
roles = ["admin"]
`;

async function freePort() {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

export async function world(t, url, more = "allow_private_addresses = true", { fronted = false } = {}) {
  assert.ok(HOLDPOINT_BIN, "`cargo xtask test --only mcp` says where the program is");
  const home = mkdtempSync(join(tmpdir(), "holdpoint-oauth-"));
  const origin = `http://127.0.0.1:${await freePort()}`;
  writeFileSync(join(home, "script.toml"), SCRIPT);
  writeFileSync(join(home, "holdpoint.toml"), settings(new URL(origin).port, url, more, fronted));
  let server;
  const w = {
    home,
    origin,
    log: "",
    async start() {
      const args = ["serve", "--config", "holdpoint.toml", "--bootstrap-tokens", "tokens.json", "--json"];
      const env = { PATH: process.env.PATH, HOME: home, RUST_LOG: "trace" };
      server = spawn(HOLDPOINT_BIN, args, { cwd: home, stdio: ["ignore", "pipe", "pipe"], env });
      children.add(server);
      server.stderr.on("data", (data) => (w.log += data));
      const lines = createInterface({ input: server.stdout });
      const [line] = await Promise.race([once(lines, "line"), once(server, "exit").then(() => [""])]);
      assert.ok(line, w.log);
      w.tokens = JSON.parse(readFileSync(join(home, "tokens.json"), "utf8"));
    },
    async stop() {
      server.kill("SIGTERM");
      await once(server, "exit");
      children.delete(server);
    },
    async raw(path, body, token = w.tokens.person_token) {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const init = body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers };
      const reply = await fetch(`${origin}${path}`, init);
      const text = await reply.text();
      return { status: reply.status, text, body: text ? JSON.parse(text) : null };
    },
    async api(path, body, token) {
      const reply = await w.raw(path, body, token);
      assert.ok(reply.status < 300, `${path}: ${reply.status} ${reply.text}`);
      return reply.body;
    },
    /** A browser in which this person is logged in. */
    async browser(person = "ana") {
      const browser = new Browser();
      const { url } = await w.api("/v1/logins", { person });
      const page = await browser.open(url);
      await browser.submit(page);
      return browser;
    },
    begin: () => w.api("/v1/mcp/connect", { server: "notes" }),
    /** The whole way of an admin. */
    async connect() {
      const browser = await w.browser();
      const { authorize_url } = await w.begin();
      const page = await browser.submit(await browser.consent(authorize_url));
      assert.equal(page.status, 200, page.text);
      return page;
    },
    /** What the audit log says about connections: for each event of this name, what stands in it. */
    audited: async (name) => {
      const { items } = await w.api(`/v1/audit?event=${name}&limit=50`);
      return items.flatMap((item) => item.entry.events.map((event) => event[name]).filter(Boolean));
    },
    state: async () => (await w.api("/v1/mcp/servers")).items[0].state,
    /** Until the agent is offered the tools: the event that tells is the server's own first list. */
    async offered() {
      for (let tries = 0; tries < 200; tries += 1) {
        const { items } = await w.api("/v1/agents");
        if (items[0].tools.some((tool) => tool.name === "notes__write_note")) return;
        await new Promise((done) => setTimeout(done, 50));
      }
      assert.fail("the tools are not offered");
    },
    /** What the model says in the end of a run that begins with this; `approve` answers what is asked. */
    async say(text, { approve = false } = {}) {
      const session = await w.api("/v1/sessions", { agent: "worker" });
      await w.api(`/v1/sessions/${session.id}/messages`, { text });
      const reply = await fetch(`${origin}/v1/sessions/${session.id}/events?after=0`, {
        headers: { authorization: `Bearer ${w.tokens.person_token}`, accept: "text/event-stream" },
      });
      let seen = "";
      let answered = false;
      for await (const chunk of reply.body) {
        seen += Buffer.from(chunk).toString();
        const hold = /hold_[0-9a-z]{26}/.exec(seen)?.[0];
        if (approve && hold && !answered) {
          answered = true;
          const { digest } = await w.api(`/v1/holds/${hold}`);
          await w.api(`/v1/holds/${hold}/answer`, { digest, answer: { verdict: "approve" } });
        }
        if (/event: run\.(completed|failed|cancelled)/.test(seen)) break;
      }
      const { messages } = await w.api(`/v1/sessions/${session.id}`);
      return messages.at(-1).parts.map((part) => part.text ?? "").join("");
    },
    /** An official client before `/mcp/notes`. */
    async client({ token = w.tokens.program_token } = {}) {
      const client = new Client({ name: "holdpoint-tests", version: "1.0.0" });
      const headers = { authorization: `Bearer ${token}` };
      await client.connect(new StreamableHTTPClientTransport(new URL(`${origin}/mcp/notes`), { requestInit: { headers } }));
      t.after(() => client.close());
      return client;
    },
    /** Answers the one open question, as soon as there is one. */
    async answer(verdict) {
      for (let tries = 0; tries < 200; tries += 1) {
        const { items } = await w.api("/v1/holds?state=pending");
        if (items.length === 1) {
          await w.api(`/v1/holds/${items[0].id}/answer`, { digest: items[0].digest, answer: { verdict } });
          return items[0];
        }
        await new Promise((done) => setTimeout(done, 50));
      }
      assert.fail("nothing was asked");
    },
    /** Everything that is not the store: logs, exports, events, metrics, what people and models see. */
    async told() {
      const paths = ["/v1/audit/export", "/metrics", "/v1/mcp/servers", "/v1/sessions?limit=200", "/v1/holds?limit=200", "/v1/agents"];
      const headers = { authorization: `Bearer ${w.tokens.person_token}` };
      const texts = [w.log];
      for (const path of paths) texts.push(await (await fetch(`${origin}${path}`, { headers })).text());
      const { items } = await w.api("/v1/sessions?limit=200");
      for (const { id } of items) texts.push((await w.raw(`/v1/sessions/${id}`)).text);
      const pins = join(home, "data", fronted ? "mcp-gate" : "mcp");
      for (const file of readdirSync(pins)) texts.push(readFileSync(join(pins, file), "utf8"));
      return texts.join("\n");
    },
    async cli(args, { token = w.tokens.person_token } = {}) {
      const env = { PATH: process.env.PATH, HOME: home, HOLDPOINT_TOKEN: token, HOLDPOINT_SERVER: origin };
      const child = spawn(HOLDPOINT_BIN, args, { cwd: home, stdio: ["ignore", "pipe", "pipe"], env });
      children.add(child);
      let [out, err] = ["", ""];
      child.stdout.on("data", (data) => (out += data));
      child.stderr.on("data", (data) => (err += data));
      return {
        child,
        firstLine: async () => {
          const lines = createInterface({ input: child.stdout });
          const [line] = await Promise.race([once(lines, "line"), once(child, "close").then(() => [""])]);
          assert.ok(line, err);
          return line;
        },
        async ended() {
          const [code] = await once(child, "close");
          return { code, out, err };
        },
      };
    },
  };
  await w.start();
  t.after(() => {
    server.kill("SIGKILL");
    rmSync(home, { recursive: true, force: true });
  });
  return w;
}
