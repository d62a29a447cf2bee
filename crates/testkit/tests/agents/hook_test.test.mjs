// `holdpoint hook test`: what it says of each agent, as text and as JSON, and what it says when the server or the token is no good.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { HOLDPOINT_BIN, nowhere } from "../real_server.mjs";
import { run, world } from "./world.mjs";

/** Where each agent keeps its user's settings, and what it calls its tool for shell commands. */
const AGENTS = {
  claude: { file: ".claude/settings.json", tool: "Bash" },
  codex: { file: ".codex/config.toml", tool: "Bash" },
  gemini: { file: ".gemini/settings.json", tool: "run_shell_command" },
  cursor: { file: ".cursor/hooks.json", tool: "Shell" },
};

/** What a command is asked about, which rule decides, and in which words that is told. */
const CASES = [
  ["ls", "coding agent: commands that read pass", "allow", /^decision: `ls`: it would run at once$/m],
  ["git push", "coding agent: pushes and publishing ask", "ask", /^decision: `git push`: a person would be asked$/m],
  ["echo forbidden > proof.txt", "one command never runs", "deny", /^decision: `echo forbidden > proof.txt`: it would not run\. /m],
];

const hookTest = (w, agent, words, { server = w.url, token = w.env.HOLDPOINT_TOKEN } = {}) =>
  run(HOLDPOINT_BIN, ["hook", "test", agent, "--server", server, ...words], {
    cwd: w.project,
    env: { ...w.env, HOLDPOINT_TOKEN: token },
  });

for (const [agent, { file, tool }] of Object.entries(AGENTS)) {
  test(`${agent}: hook test says what would happen, as text and as JSON, and runs nothing`, async (t) => {
    const w = await world(t);
    for (const [command, rule, decision, told] of CASES) {
      const json = await hookTest(w, agent, ["--command", command, "--json"]);
      assert.equal(json.code, 0, json.err);
      const report = JSON.parse(json.out);
      assert.deepEqual([report.rule, report.decision, report.status], [rule, decision, 200], command);
      assert.equal(report.server, `${w.url}/`);
      const text = await hookTest(w, agent, ["--command", command]);
      assert.equal(text.code, 0, text.err);
      assert.match(text.out, told);
      assert.match(text.out, new RegExp(`^rule: +"${rule}"$`, "m"));
      assert.match(text.out, /^server: +\S+ replies with status 200$/m);
      assert.match(text.out, /^token: +may ask$/m);
    }
    assert.ok(!w.has("proof.txt"));
    const { items } = await w.api("/v1/holds?limit=100");
    const tools = new Set(items.map((hold) => hold.call.tool));
    assert.deepEqual([...tools], [tool], "the agent's own name, which rules name");
    assert.equal(items.length, 2 * CASES.length);
    const asked = items.filter((hold) => hold.call.arguments.input.command === "git push");
    assert.deepEqual(asked.map((hold) => [hold.state, hold.cancelled.reason]), Array(2).fill(["cancelled", "it was a test of the hook"]));
  });

  test(`${agent}: hook test says where the hook is set up`, async (t) => {
    const w = await world(t);
    const settings = async () => {
      const { settings } = JSON.parse((await hookTest(w, agent, ["--json"])).out);
      const { out } = await hookTest(w, agent, []);
      for (const { file, hook } of settings) {
        assert.ok(out.includes(`settings: ${file} ${hook ? "has the hook" : "has no hook"}\n`), out);
      }
      return settings;
    };
    const [inProject, ofUser] = [join(w.project, file), join(w.home, file)];
    assert.deepEqual(await settings(), [{ file: inProject, hook: false }, { file: ofUser, hook: false }]);
    await w.install(agent, ofUser);
    assert.deepEqual(await settings(), [{ file: inProject, hook: false }, { file: ofUser, hook: true }]);
    await w.uninstall(agent);
    await w.install(agent, inProject, { project: true });
    assert.deepEqual(await settings(), [{ file: inProject, hook: true }, { file: ofUser, hook: false }]);
  });

  test(`${agent}: hook test without a server or with a token that is no good fails, and says what helps`, async (t) => {
    const w = await world(t);
    const server = await nowhere();
    for (const [choice, why, remedy] of [
      [{ server }, /^error: cannot reach http:\/\/127\.0\.0\.1:\d+\/: /, /holdpoint serve/],
      [{ token: "hp_program_wrong" }, /^error: this token or login is unknown, expired or revoked$/m, /HOLDPOINT_TOKEN/],
      [{ token: "" }, /^error: send the header/, /holdpoint token create/],
    ]) {
      for (const words of [[], ["--json"]]) {
        const out = await hookTest(w, agent, words, choice);
        assert.deepEqual([out.code, out.out], [1, ""], "nothing is said to be set up");
        assert.match(out.err, why);
        assert.match(out.err, remedy);
        assert.ok(!out.err.includes("hp_program_wrong"), "a token is not repeated");
      }
    }
    assert.deepEqual((await w.api("/v1/holds?limit=100")).items, []);
  });
}
