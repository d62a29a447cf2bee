// `holdpoint mcp proxy` before the public git server (PyPI mcp-server-git): a commit is there only if a person approved its call.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { legacy, modern, text } from "./clients.mjs";
import { python } from "./python.mjs";
import { MCP_PYTHON, world } from "./world.mjs";

const behind = (w, ...options) => ["proxy", "--name", "repo", ...options, "--", MCP_PYTHON, "-B", "-m", "mcp_server_git", "--repository", w.room];
const commit = (w, message = "First words") => ({ repo_path: w.room, message });

/** A repository with one staged file and no commit. */
async function repository(t) {
  const w = await world(t);
  // The tests read no git configuration of their user.
  const env = { ...w.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
  const git = (...args) => execFileSync("git", ["-C", w.room, ...args], { env, encoding: "utf8" }).trim();
  git("init", "--quiet");
  git("config", "user.name", "Ana");
  git("config", "user.email", "ana@example.com");
  writeFileSync(join(w.room, "a.txt"), "a");
  git("add", "a.txt");
  const subjects = () => (git("rev-list", "--all") === "" ? [] : git("log", "--format=%s").split("\n"));
  return Object.assign(w, { git, subjects });
}

for (const kind of [legacy, modern]) {
  test(`${kind.name} before the git server: status passes, and a commit is made only after approval`, async (t) => {
    const w = await repository(t);
    const client = await kind.connect(t, w, behind(w));
    assert.match(text(await kind.call(client, "git_status", { repo_path: w.room })), /a\.txt/);
    assert.equal((await w.pending()).length, 0, "a rule allows it");

    const calling = kind.call(client, "git_commit", commit(w));
    const hold = await w.hold();
    assert.deepEqual([hold.call.tool, hold.call.arguments], ["repo__git_commit", commit(w)]);
    assert.equal(hold.context.says_it_is, "mcp-git 2026.10.19");
    assert.deepEqual(w.subjects(), [], "nothing is committed while it waits");
    await w.approve();
    const result = await calling;
    assert.ok(!result.isError, text(result));
    assert.deepEqual(w.subjects(), ["First words"]);
    assert.equal((await w.settled(hold.id)).outcome.state, "succeeded");
  });
}

test("the git server: a denied commit is not made, and an edited one has the person's message", async (t) => {
  const w = await repository(t);
  const client = await modern.connect(t, w, behind(w));
  const denied = modern.call(client, "git_commit", commit(w));
  await w.answer({ verdict: "deny", reason: "write a better message" });
  assert.match(text(await denied), /write a better message/);
  assert.deepEqual(w.subjects(), []);
  const edited = modern.call(client, "git_commit", commit(w));
  await w.answer({ verdict: "approve", arguments: commit(w, "Better words") });
  assert.match(text(await edited), /a person changed the arguments/);
  assert.deepEqual(w.subjects(), ["Better words"]);
});

for (const kind of [legacy, modern]) {
  test(`${kind.name} before the git server: come back, and the approval is found and used once`, async (t) => {
    const w = await repository(t);
    const client = await kind.connect(t, w, behind(w, "--wait", "1s"));
    assert.match(text(await kind.call(client, "git_commit", commit(w))), /call again with the same arguments/);
    await w.approve();
    assert.deepEqual(w.subjects(), []);
    const done = await kind.call(client, "git_commit", commit(w));
    assert.ok(!done.isError, text(done));
    assert.deepEqual(w.subjects(), ["First words"]);
    writeFileSync(join(w.room, "b.txt"), "b");
    w.git("add", "b.txt");
    assert.match(text(await kind.call(client, "git_commit", commit(w))), /waits for a person/);
    assert.deepEqual(w.subjects(), ["First words"]);
  });
}

test("client 2.4.0 before the git server: a form in the client is the answer of the token's owner", async (t) => {
  const w = await repository(t);
  const asked = [];
  const client = await modern.connect(t, w, behind(w, "--answer-in-client"), {
    capabilities: { elicitation: { form: {} } },
    env: { HOLDPOINT_TOKEN: w.tokens.person_token },
    prepare: (client) =>
      client.setRequestHandler("elicitation/create", ({ params }) => {
        asked.push(params.message);
        assert.deepEqual(w.subjects(), []);
        return { action: "accept", content: asked.length === 1 ? { decision: "deny", reason: "write a better message" } : { decision: "approve" } };
      }),
  });
  assert.match(text(await modern.call(client, "git_commit", commit(w))), /write a better message/);
  const done = await modern.call(client, "git_commit", commit(w, "Better words"));
  assert.ok(!done.isError, text(done));
  assert.match(asked[1], /repo__git_commit[\s\S]*Better words/);
  assert.deepEqual(w.subjects(), ["Better words"]);
});

test("mcp 2.3.0 before the git server: a commit is made after approval", async (t) => {
  const w = await repository(t);
  const running = python(t, w, behind(w), [["git_commit", commit(w)]]);
  await w.hold();
  assert.deepEqual(w.subjects(), []);
  await w.approve();
  const { results } = await running;
  assert.equal(results[0].is_error, false, JSON.stringify(results));
  assert.deepEqual(w.subjects(), ["First words"]);
});
