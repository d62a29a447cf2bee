import assert from "node:assert/strict";
import { test } from "node:test";
import { claude } from "./agents.mjs";
import { testClaude, testCommand, testGate } from "./gate.mjs";
import { PROOF, prepared, text } from "./world.mjs";

testGate(claude);
testCommand(claude);
testClaude(claude);

test("claude: its permission prompt asks through `holdpoint mcp serve`, and runs what was approved", async (t) => {
  const w = await prepared(t, claude, claude.shell(PROOF));
  await w.uninstall("claude");
  const prompt = (args) => claude.prompt(w, args);
  let going = prompt();
  const hold = await w.hold();
  assert.ok(!w.has("proof.txt"), "it waits");
  assert.equal(hold.call.arguments.input.command, PROOF);
  await w.api(`/v1/holds/${hold.id}/answer`, { digest: hold.digest, answer: { verdict: "deny", reason: "not on a Friday" } });
  await going;
  assert.ok(!w.has("proof.txt"));
  assert.match(await w.heard(), /not on a Friday/);
  await w.play({ when: { results: 0 }, say: [claude.shell(PROOF)] }, { say: [text("ok")] });
  going = prompt();
  const second = await w.hold();
  const input = { ...second.call.arguments.input, command: "echo edited > edited.txt" };
  const answer = { verdict: "approve", arguments: { ...second.call.arguments, input } };
  await w.api(`/v1/holds/${second.id}/answer`, { digest: second.digest, answer });
  const out = await going;
  assert.ok(w.has("edited.txt"), out.out + out.err);
  assert.ok(!w.has("proof.txt"));
});
