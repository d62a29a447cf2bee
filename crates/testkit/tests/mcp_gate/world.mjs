// A Holdpoint server and a folder, for one test. Clients and upstreams are started by the tests.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

export const { HOLDPOINT_BIN, MCP_PYTHON } = process.env;

const SETTINGS = `
[server]
listen = "127.0.0.1:0"

[store]
url = "sqlite:data"

[[people]]
id = "ana"
name = "Ana"
roles = ["admin"]

[[people]]
id = "dora"
name = "Dora"
roles = ["dba"]

[policy]
default = "ask"

[[policy.rules]]
name = "reading is free"
match = { tool = "*__read_text_file" }
then = "allow"

[[policy.rules]]
name = "listing is free"
match = { tool = "*__list_directory" }
then = "allow"

[[policy.rules]]
name = "the state of a repository is free"
match = { tool = "*__git_status" }
then = "allow"

[[policy.rules]]
name = "scenarios that nobody is asked about"
match = { tool = "free__test_*" }
then = "allow"

[[policy.rules]]
name = "moving is not for agents"
match = { tool = "*__move_file" }
then = "deny"

[[policy.rules]]
name = "edits are asked about for a moment"
match = { tool = "*__edit_file" }
then = "ask"
ask = { roles = ["admin"], expires = "1s" }

[[policy.rules]]
name = "echoes are free"
match = { tool = "*__echo*" }
then = "allow"

[[policy.rules]]
name = "folders are for a dba"
match = { tool = "*__create_directory" }
then = "ask"
ask = { roles = ["dba"] }
`;

const children = new Set();
process.on("exit", () => children.forEach((child) => child.kill("SIGKILL")));

export function start(program, args, options) {
  const child = spawn(program, args, options);
  children.add(child);
  child.on("exit", () => children.delete(child));
  return child;
}

/** Everything for one test. `t.after` ends it. */
export async function world(t) {
  assert.ok(HOLDPOINT_BIN && MCP_PYTHON, "`cargo xtask test --only mcp` says where the programs are");
  const home = mkdtempSync(join(tmpdir(), "holdpoint-mcp-"));
  const room = join(home, "room");
  mkdirSync(room);
  writeFileSync(join(home, "holdpoint.toml"), SETTINGS);
  const server = start(HOLDPOINT_BIN, ["serve", "--config", "holdpoint.toml", "--bootstrap-tokens", "tokens.json", "--json"], {
    cwd: home,
    stdio: ["ignore", "pipe", "ignore"],
  });
  let url;
  for await (const line of createInterface({ input: server.stdout })) {
    url = JSON.parse(line).url ?? url;
    if (url) break;
  }
  assert.ok(url, "the server starts");
  const tokens = JSON.parse(readFileSync(join(home, "tokens.json"), "utf8"));
  const w = {
    home,
    room,
    url,
    tokens,
    env: { PATH: process.env.PATH, HOME: home, LANG: "C.UTF-8", HOLDPOINT_TOKEN: tokens.program_token, HOLDPOINT_SERVER: url },
    has: (name) => existsSync(join(room, name)),
    async api(path, body, token = tokens.person_token) {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const init = body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers };
      const reply = await fetch(`${url}${path}`, init);
      assert.ok(reply.ok, `${path}: ${reply.status} ${await reply.clone().text()}`);
      return reply.json();
    },
    /** A hold that waits for people, as soon as there is one. The event stream tells; nothing is polled. */
    async hold(fits = () => true) {
      const headers = { authorization: `Bearer ${tokens.person_token}`, accept: "text/event-stream" };
      const reply = await fetch(`${url}/v1/events?after=0`, { headers });
      const looked = new Set();
      let seen = "";
      for await (const chunk of reply.body) {
        seen += Buffer.from(chunk).toString();
        for (const [id] of seen.matchAll(/hold_[0-9a-z]{26}/g)) {
          if (looked.has(id)) continue;
          looked.add(id);
          const hold = await w.api(`/v1/holds/${id}`);
          if (hold.state === "pending" && fits(hold)) return hold;
        }
      }
      assert.fail("the event stream ended");
    },
    async answer(answer, fits) {
      const hold = await w.hold(fits);
      await w.api(`/v1/holds/${hold.id}/answer`, { digest: hold.digest, answer });
      return hold;
    },
    approve: (fits) => w.answer({ verdict: "approve" }, fits),
    /** The hold when its call has ended. */
    async settled(id) {
      const headers = { authorization: `Bearer ${tokens.person_token}` };
      const reply = await fetch(`${url}/v1/holds/${id}/wait?until=settled&timeout_s=20`, { headers });
      assert.equal(reply.status, 200);
      return reply.json();
    },
    async pending() {
      return (await w.api("/v1/holds?state=pending")).items;
    },
    async killServer() {
      server.kill("SIGKILL");
      await once(server, "exit");
    },
  };
  t.after(() => {
    server.kill("SIGKILL");
    rmSync(home, { recursive: true, force: true });
  });
  return w;
}

/** An address at which nobody listens. */
export async function nowhere() {
  const server = createServer();
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return `http://127.0.0.1:${port}`;
}
