// The server scenarios of npm @modelcontextprotocol/conformance 0.1.16, before `holdpoint mcp`. They speak HTTP, so a bridge stands between.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { bridge } from "./bridge.mjs";
import { scenarios, SUITE } from "./conformance.mjs";
import { newerNode, run } from "./partner.mjs";
import { HOLDPOINT_BIN, world } from "./world.mjs";

const UPSTREAM = fileURLToPath(new URL("conformance_upstream.mjs", import.meta.url));

/** About HTTP alone. Before a bridge they would try the bridge, and not us. */
const OF_HTTP = ["dns-rebinding-protection", "server-sse-multiple-streams", "server-sse-polling"];

const direct = { command: process.execPath, args: [UPSTREAM] };
const through = (w, args) => ({ command: HOLDPOINT_BIN, args: ["mcp", ...args], env: w.env, cwd: w.home });
const behind = (name) => ["proxy", "--name", name, "--", process.execPath, UPSTREAM];

test("conformance 0.1.16: each scenario passes through the proxy as it does without it", async (t) => {
  const w = await world(t);
  const urls = [await bridge(t, direct), await bridge(t, through(w, behind("free")))];
  const [without, with_] = await Promise.all(urls.map((url) => scenarios(t, w, url, "all", OF_HTTP)));
  assert.equal(without.size, 29);
  const failed = (results) => [...results].filter(([, [, failures]]) => failures > 0);
  assert.deepEqual(failed(without), [], "the upstream and the bridge are what the scenarios ask for");
  assert.deepEqual([...with_], [...without]);
  assert.equal((await w.pending()).length, 0);
});

test("conformance 0.1.16: a scenario whose call is held passes after approval", async (t) => {
  const w = await world(t);
  const url = await bridge(t, through(w, behind("held")));
  const running = run(t, w, newerNode(), [SUITE, "server", "--url", url, "--scenario", "tools-call-sampling"]);
  const hold = await w.hold();
  assert.equal(hold.call.tool, "held__test_sampling");
  await w.approve();
  const { code, out } = await running;
  assert.equal(code, 0, out);
  assert.equal((await w.settled(hold.id)).outcome.state, "succeeded");
});

test("conformance 0.1.16: `mcp serve` passes what is about any server", async (t) => {
  const w = await world(t);
  const url = await bridge(t, through(w, ["serve"]));
  for (const scenario of ["server-initialize", "ping", "tools-list"]) {
    const { code, out } = await run(t, w, newerNode(), [SUITE, "server", "--url", url, "--scenario", scenario]);
    assert.equal(code, 0, out);
  }
});
