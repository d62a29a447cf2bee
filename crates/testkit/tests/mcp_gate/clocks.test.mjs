// Clocks that stand a day apart: the server's word counts, whatever the proxy's machine takes the time to be.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { legacy, modern, text } from "./clients.mjs";
import { files, target } from "./proxy_cases.mjs";
import { modernMeta, raw } from "./raw.mjs";
import { MCP_PYTHON, world } from "./world.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const WRITER = here("upstream.py");
const ask = { kind: "approve", question: "May I?" };

/** What makes a program's clock stand a day before or behind that of the server. */
function skewed(w, seconds) {
  const library = join(w.home, "skew.so");
  execFileSync("cc", ["-shared", "-fPIC", "-o", library, here("skew.c"), "-ldl"]);
  return { LD_PRELOAD: library, CLOCK_SKEW_S: String(seconds) };
}
const DAY = 86_400;

for (const [where, seconds] of [["a day ahead", DAY], ["a day behind", -DAY]]) {
  for (const kind of [legacy, modern]) {
    test(`${kind.name}, the proxy's clock is ${where}: approved it runs, denied and expired it does not, and an approval is found again`, async (t) => {
      const w = await world(t);
      const env = skewed(w, seconds);
      const client = await kind.connect(t, w, files(w), { env });
      const approved = kind.call(client, "write_file", target(w));
      const hold = await w.hold();
      assert.ok(!w.has("proof.txt"));
      await w.approve();
      assert.ok(!(await approved).isError && w.has("proof.txt"));
      assert.equal((await w.settled(hold.id)).outcome.state, "succeeded");
      const denied = kind.call(client, "write_file", target(w, "denied.txt"));
      await w.answer({ verdict: "deny", reason: "not that one" });
      assert.match(text(await denied), /not that one/);
      writeFileSync(join(w.room, "a"), "one");
      const expired = await kind.call(client, "edit_file", { path: join(w.room, "a"), edits: [{ oldText: "one", newText: "two" }] });
      assert.match(text(expired), /Expired/, "by the server's clock");
      assert.equal(readFileSync(join(w.room, "a"), "utf8"), "one");
      const hasty = await kind.connect(t, w, files(w, "--wait", "1s"), { env });
      const late = await kind.call(hasty, "write_file", target(w, "late.txt"));
      assert.match(text(late), /call again with the same arguments/);
      await w.approve();
      assert.ok(!w.has("late.txt"));
      assert.ok(!(await kind.call(hasty, "write_file", target(w, "late.txt"))).isError && w.has("late.txt"));
      assert.ok(!w.has("denied.txt"));
    });
  }

  test(`a task whose proxy's clock is ${where} says its own time, waits, and runs after approval`, async (t) => {
    const w = await world(t);
    const client = raw(t, w, ["proxy", "--name", "writer", "--", MCP_PYTHON, "-B", WRITER, w.room], skewed(w, seconds));
    const _meta = modernMeta({ extensions: { "io.modelcontextprotocol/tasks": {} } });
    const { result: task } = await client.request(1, "tools/call", { name: "write", arguments: { name: "proof.txt", text: "yes" }, _meta });
    const apart = (Date.parse(task.createdAt) - Date.now()) / 1000;
    assert.ok(Math.abs(apart - seconds) < 60, `the clocks are ${apart} s apart`);
    assert.ok(!w.has("proof.txt"));
    await w.approve();
    for (let id = 2; ; id += 1) {
      const { result } = await client.request(id, "tasks/get", { taskId: task.taskId, _meta });
      if (result.status === "completed") break;
      assert.equal(result.status, "working");
      await new Promise((done) => setTimeout(done, 20));
    }
    assert.ok(w.has("proof.txt"));
  });

  test(`mcp serve, its clock ${where}: an answer is found, and a question that expired is no yes`, async (t) => {
    const w = await world(t);
    const client = await legacy.connect(t, w, ["serve"], { env: skewed(w, seconds) });
    const asking = legacy.call(client, "ask_person", ask);
    await w.approve();
    assert.equal((await asking).structuredContent.state, "approved");
    const late = await legacy.call(client, "ask_person", { ...ask, expires_in_s: 1 });
    assert.equal(late.structuredContent.state, "expired");
  });
}
