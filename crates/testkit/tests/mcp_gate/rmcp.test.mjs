// Peers made with the official Rust package (crate rmcp 3.8.0, `rmcp_peer/`): a client before the proxy in each way of waiting, and a server behind it.

import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { legacy, modern, text } from "./clients.mjs";
import { files, target } from "./proxy_cases.mjs";
import { HOLDPOINT_BIN, start, world } from "./world.mjs";

const { RMCP_PEERS } = process.env;
const behind = (w, ...options) => ["proxy", "--name", "rusty", ...options, "--", join(RMCP_PEERS, "rmcp-server"), w.room];
const proof = { name: "proof.txt", text: "yes" };

/** Makes the calls one after another, and says which version was spoken and what came of them. */
async function rmcp(t, w, way, args, calls, env = {}) {
  const child = start(join(RMCP_PEERS, "rmcp-client"), [], { stdio: ["pipe", "pipe", "pipe"], cwd: w.home });
  t.after(() => child.kill("SIGKILL"));
  child.stdin.end(JSON.stringify({ command: HOLDPOINT_BIN, args: ["mcp", ...args], env: { ...w.env, ...env }, cwd: w.home, way, calls }));
  let [out, err] = ["", ""];
  child.stdout.on("data", (data) => (out += data));
  child.stderr.on("data", (data) => (err += data));
  const [code] = await once(child, "close");
  assert.equal(code, 0, out + err);
  return JSON.parse(out);
}

for (const [way, version] of [["legacy", "2025-11-25"], ["modern", "2026-07-28"], ["task", "2026-07-28"]]) {
  test(`rmcp 3.8.0, ${way}: reading passes, and a file is written only after approval`, async (t) => {
    const w = await world(t);
    writeFileSync(join(w.room, "seen.txt"), "");
    const running = rmcp(t, w, way, behind(w), [
      ["list_directory", { path: w.room }],
      ["write", proof],
      ["write", { name: "denied.txt", text: "no" }],
    ]);
    const hold = await w.hold();
    assert.ok(!w.has("proof.txt"), "it waits");
    assert.deepEqual([hold.call.tool, hold.call.arguments], ["rusty__write", proof]);
    await w.approve();
    await w.answer({ verdict: "deny", reason: "one is enough" }, (other) => other.call.arguments.name === "denied.txt");
    const told = await running;
    assert.equal(told.version, version);
    assert.deepEqual(told.tools.sort(), ["list_directory", "write"]);
    const [listed, written, denied] = told.results;
    assert.match(text(listed), /seen\.txt/);
    assert.ok(!written.isError && w.has("proof.txt"), text(written));
    assert.equal(denied.isError, true);
    assert.match(text(denied), /one is enough/);
    assert.ok(!w.has("denied.txt"));
    assert.equal(told.polls > 0, way === "task", "only a task is asked for");
  });
}

for (const way of ["legacy", "modern", "task"]) {
  test(`rmcp 3.8.0, ${way}, before the filesystem server: a file is written only after approval`, async (t) => {
    const w = await world(t);
    const running = rmcp(t, w, way, files(w), [
      ["list_directory", { path: w.room }],
      ["write_file", target(w)],
      ["write_file", target(w, "denied.txt")],
    ]);
    const hold = await w.hold();
    assert.ok(!w.has("proof.txt"), "it waits");
    assert.deepEqual([hold.call.tool, hold.call.arguments], ["files__write_file", target(w)]);
    await w.approve();
    await w.answer({ verdict: "deny", reason: "one is enough" }, ({ call }) => call.arguments.path === target(w, "denied.txt").path);
    const told = await running;
    assert.equal(told.tools.length, 14);
    const [listed, written, denied] = told.results;
    assert.ok(!listed.isError && !written.isError && w.has("proof.txt"), text(written));
    assert.equal(denied.isError, true);
    assert.match(text(denied), /one is enough/);
    assert.ok(!w.has("denied.txt"));
    assert.equal(told.polls > 0, way === "task");
    assert.equal((await w.settled(hold.id)).outcome.state, "succeeded");
  });
}

for (const way of ["legacy", "modern"]) {
  test(`rmcp 3.8.0, ${way}: come back, and the same call of the next process finds its approval and uses it once`, async (t) => {
    const w = await world(t);
    const again = async () => (await rmcp(t, w, way, files(w, "--wait", "1s"), [["write_file", target(w)]])).results[0];
    const told = await again();
    assert.equal(told.isError, true);
    assert.match(text(told), /call again with the same arguments/);
    await w.approve();
    assert.ok(!w.has("proof.txt"));
    const done = await again();
    assert.ok(!done.isError && w.has("proof.txt"), text(done));
    assert.match(text(await again()), /waits for a person/, "the next one is asked about again");
  });
}

test("rmcp 3.8.0, form: what a person says in the client counts, and only if it is that person's token", async (t) => {
  const w = await world(t);
  const person = { HOLDPOINT_TOKEN: w.tokens.person_token };
  const told = await rmcp(t, w, "form", behind(w, "--answer-in-client"), [["write", proof]], person);
  assert.equal(told.forms, 1);
  assert.ok(!told.results[0].isError && w.has("proof.txt"), text(told.results[0]));
  const other = { name: "other.txt", text: "no" };
  const running = rmcp(t, w, "form", behind(w), [["write", other]]);
  await w.answer({ verdict: "deny", reason: "a program does not answer" }, (hold) => hold.call.arguments.name === other.name);
  const { forms, results } = await running;
  assert.deepEqual([forms, results[0].isError, w.has("other.txt")], [0, true, false]);
});

for (const kind of [legacy, modern]) {
  test(`${kind.name} before a server made with rmcp: a file is written only after approval`, async (t) => {
    const w = await world(t);
    const client = await kind.connect(t, w, behind(w));
    const calling = kind.call(client, "write", proof);
    await w.hold();
    assert.ok(!w.has("proof.txt"));
    await w.approve();
    const result = await calling;
    assert.ok(!result.isError && w.has("proof.txt"), text(result));
  });
}
