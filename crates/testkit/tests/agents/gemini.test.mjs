import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gemini } from "./agents.mjs";
import { testCommand, testGate, testProject, testTimeout } from "./gate.mjs";
import { PROOF, prepared } from "./world.mjs";

testGate(gemini);
testCommand(gemini);
testTimeout(gemini, '"timeout": 600000', '"timeout": 6000');
testProject(gemini);

// What docs/guide/gemini-cursor.md warns of. If this fails, Gemini CLI has become stricter: say so there.
test("gemini: in a folder that is not trusted the project's own settings hold nothing", async (t) => {
  const w = await prepared(t, gemini, gemini.shell(PROOF), { project: true });
  rmSync(join(w.home, ".gemini", "trustedFolders.json"));
  const out = await gemini.go(w);
  assert.ok(w.has("proof.txt"), out.out + out.err);
  await gemini.setUp(w);
  const going = gemini.go(w);
  await w.answer({ verdict: "deny", reason: "the user's settings hold" });
  await going;
  assert.match(await w.heard(), /the user's settings hold/);
});
