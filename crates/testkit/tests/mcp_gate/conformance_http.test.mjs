// The scenarios of npm @modelcontextprotocol/conformance 0.1.16 over HTTP: those for servers before `/mcp/NAME`, and those for clients, whose
// own servers stand behind `holdpoint mcp proxy --url`.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { scenarios, SUITE } from "./conformance.mjs";
import { withToken } from "./forwarder.mjs";
import { newerNode, run } from "./partner.mjs";
import { HOLDPOINT_BIN, world } from "./world.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const fronted = () => `
[mcp.upstreams.free]
argv = [${JSON.stringify(process.execPath)}, ${JSON.stringify(here("conformance_upstream.mjs"))}]
`;

/** It asks for a tool that the upstream does not have, and then checks nothing. */
const IDLE = ["server-sse-polling"];

test("conformance 0.1.16 over HTTP: the server's door passes the suite", async (t) => {
  const w = await world(t, fronted);
  const url = await withToken(t, `${w.url}/mcp/free`, w.tokens.program_token);
  const results = await scenarios(t, w, url, "all", IDLE);
  assert.equal(results.size, 31);
  assert.deepEqual([...results].filter(([, [passed, failed]]) => passed === 0 || failed > 0), []);
  assert.equal((await w.pending()).length, 0);
});

for (const scenario of ["initialize", "tools_call", "elicitation-sep1034-client-defaults"]) {
  test(`conformance 0.1.16 over HTTP: the scenario ${scenario} for clients passes through the proxy`, async (t) => {
    const w = await world(t);
    const command = `${process.execPath} ${here("conformance_client.mjs")}`;
    const env = { ...w.env, HOLDPOINT_BIN };
    const { code, out, err } = await run(t, w, newerNode(), [SUITE, "client", "--command", command, "--scenario", scenario], env);
    assert.equal(code, 0, out + err);
  });
}
