// The Inspector's command line before `holdpoint mcp proxy`, in each of the eras that it can be told.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { text } from "./clients.mjs";
import { fronted } from "./door.mjs";
import { ERAS, callTool, inspect, inspectHttp, listTools, say } from "./inspector.mjs";
import { target } from "./proxy_cases.mjs";
import { MCP_PYTHON, world } from "./world.mjs";

const EVERYTHING = fileURLToPath(new URL("node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url));
const everything = () => ["proxy", "--name", "all", "--", process.execPath, EVERYTHING];
const repository = (w) => ["proxy", "--name", "repo", "--", MCP_PYTHON, "-B", "-m", "mcp_server_git", "--repository", w.room];

for (const { era, behind, tool } of ERAS) {
  test(say(era, "it lists the tools, and calls what a rule allows"), async (t) => {
    const w = await world(t);
    const listed = await inspect(t, w, era, listTools, behind(w));
    assert.equal(listed.code, 0, listed.said);
    assert.ok(listed.result.tools.some(({ name }) => name === tool), listed.said);
    writeFileSync(join(w.room, "seen.txt"), "");
    const allowed = await inspect(t, w, era, callTool("list_directory", { path: w.room }), behind(w));
    assert.equal(allowed.code, 0, allowed.said);
    assert.match(text(allowed.result), /seen\.txt/);
    assert.equal((await w.pending()).length, 0);
  });
}

for (const { era, behind, tool, args } of ERAS) {
  test(say(era, "a file is written only after approval, and a denial is read out"), async (t) => {
    const w = await world(t);
    const calling = inspect(t, w, era, callTool(tool, args(w)), behind(w));
    const hold = await w.hold();
    assert.ok(!w.has("proof.txt"), "it waits");
    assert.deepEqual(hold.call.arguments, args(w));
    await w.approve();
    const approved = await calling;
    assert.equal(approved.code, 0, approved.said);
    assert.ok(!approved.result.isError && w.has("proof.txt"), approved.said);

    const refused = inspect(t, w, era, callTool(tool, args(w, "denied.txt")), behind(w));
    await w.answer({ verdict: "deny", reason: "not on a Friday" });
    const denied = await refused;
    assert.equal(denied.result?.isError, true, denied.said);
    assert.match(text(denied.result), /not on a Friday/);
    assert.ok(!w.has("denied.txt"));
  });
}

test(say("auto", "before the git server a commit is made only after approval"), async (t) => {
  const w = await world(t);
  const env = { ...w.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
  const git = (...args) => execFileSync("git", ["-C", w.room, ...args], { env, encoding: "utf8" }).trim();
  git("init", "--quiet");
  git("config", "user.name", "Ana");
  git("config", "user.email", "ana@example.com");
  writeFileSync(join(w.room, "a.txt"), "a");
  git("add", "a.txt");
  const status = await inspect(t, w, "auto", callTool("git_status", { repo_path: w.room }), repository(w));
  assert.match(text(status.result), /a\.txt/, status.said);
  const committing = inspect(t, w, "auto", callTool("git_commit", { repo_path: w.room, message: "First words" }), repository(w));
  await w.hold();
  assert.equal(git("rev-list", "--all"), "");
  await w.approve();
  const { result, said } = await committing;
  assert.ok(!result.isError, said);
  assert.equal(git("log", "--format=%s"), "First words");
});

for (const era of ["legacy", "auto"]) {
  test(say(era, "before the everything server a call waits, and other requests pass"), async (t) => {
    const w = await world(t);
    const echoed = await inspect(t, w, era, callTool("echo", { message: "hi" }), everything());
    assert.match(text(echoed.result), /hi/, echoed.said);
    const read = await inspect(t, w, era, ["--method", "resources/list"], everything());
    assert.ok(read.result.resources.length > 0, read.said);
    const adding = inspect(t, w, era, callTool("get-sum", { a: 2, b: 3 }), everything());
    await w.answer({ verdict: "deny", reason: "no sums today" });
    const denied = await adding;
    assert.match(text(denied.result), /no sums today/, denied.said);
  });
}

for (const era of ["legacy", "auto", "modern"]) {
  test(say(era, "over HTTP a file is written only after approval"), async (t) => {
    const w = await world(t, fronted());
    const listed = await inspectHttp(t, w, era, listTools, "/mcp/files");
    assert.ok(listed.result.tools.some(({ name }) => name === "write_file"), listed.said);
    const calling = inspectHttp(t, w, era, callTool("write_file", target(w)), "/mcp/files");
    await w.hold();
    assert.ok(!w.has("proof.txt"), "it waits");
    await w.approve();
    const approved = await calling;
    assert.ok(!approved.result.isError && w.has("proof.txt"), approved.said);
  });
}
