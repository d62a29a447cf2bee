import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { codex } from "./agents.mjs";
import { testCommand, testGate, testProject, testTimeout } from "./gate.mjs";
import { PROOF, prepared } from "./world.mjs";

testGate(codex);
testCommand(codex);
testTimeout(codex, "timeout = 600", "timeout = 6");
testProject(codex);

// What docs/guide/codex.md warns of. If this fails, Codex has become stricter: say so there.
test("codex: in a project that is not trusted the project's own settings hold nothing", async (t) => {
  const w = await prepared(t, codex, codex.shell(PROOF), { project: true });
  const own = join(w.env.CODEX_HOME, "config.toml");
  writeFileSync(own, readFileSync(own, "utf8").replace('"trusted"', '"untrusted"'));
  const out = await codex.go(w);
  assert.ok(w.has("proof.txt"), out.out + out.err);
  await codex.setUp(w);
  const going = codex.go(w);
  await w.answer({ verdict: "deny", reason: "the user's settings hold" });
  await going;
  assert.match(await w.heard(), /the user's settings hold/);
});
