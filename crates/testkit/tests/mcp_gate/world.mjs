// A Holdpoint server and a folder, for one test. Clients and upstreams are started by the tests.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HOLDPOINT_BIN, kill, person, serve } from "../real_server.mjs";

export { HOLDPOINT_BIN, nowhere, start } from "../real_server.mjs";
export const { MCP_PYTHON } = process.env;

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
name = "the suite's own servers are free"
match = { tool = "suite__*" }
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

/** Everything for one test. `t.after` ends it. `more` says what else stands in the configuration. */
export async function world(t, more = () => "") {
  assert.ok(HOLDPOINT_BIN && MCP_PYTHON, "`cargo xtask test --only mcp` says where the programs are");
  const home = mkdtempSync(join(tmpdir(), "holdpoint-mcp-"));
  const room = join(home, "room");
  mkdirSync(room);
  writeFileSync(join(home, "holdpoint.toml"), SETTINGS + more(room));
  let { server, url } = await serve(home, ["--bootstrap-tokens", "tokens.json"]);
  const tokens = JSON.parse(readFileSync(join(home, "tokens.json"), "utf8"));
  const w = {
    ...person(url, tokens.person_token),
    home,
    room,
    url,
    tokens,
    env: { PATH: process.env.PATH, HOME: home, LANG: "C.UTF-8", HOLDPOINT_TOKEN: tokens.program_token, HOLDPOINT_SERVER: url },
    has: (name) => existsSync(join(room, name)),
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
    killServer: () => kill(server),
    /** On the same data, at another address. */
    async restartServer() {
      await kill(server);
      ({ server, url } = await serve(home, []));
      Object.assign(w, person(url, tokens.person_token), { url });
    },
  };
  t.after(() => {
    server.kill("SIGKILL");
    rmSync(home, { recursive: true, force: true });
  });
  return w;
}
