// What Claude Code would do to files: shown as a diff where our hook runs beside the files, and asked about where not.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { claude, claudeHttp } from "./agents.mjs";
import { call, prepared, text, world } from "./world.mjs";

test("claude: an edit inside the repository passes, one outside shows its diff and waits", async (t) => {
  const w = await prepared(t, claude, call("Write", { file_path: "src.txt", content: "new\n" }));
  await claude.go(w);
  assert.ok(w.has("src.txt"));
  const outside = join(w.home, "outside.txt");
  await w.play({ when: { results: 0 }, say: [call("Write", { file_path: outside, content: "a\nb\n" })] }, { say: [text("ok")] });
  const going = claude.go(w);
  const hold = await w.answer({ verdict: "deny", reason: "outside" });
  await going;
  assert.equal(hold.call.arguments.files_in, "outside");
  assert.match(hold.preview.diff, /\+a\n\+b$/);
});

test("claude over HTTP: a server that cannot see the files asks, and the card says what nobody knows", async (t) => {
  const w = await prepared(t, claudeHttp, call("Write", { file_path: "src.txt", content: "new\n" }));
  const going = claudeHttp.go(w);
  const hold = await w.hold();
  assert.ok(!w.has("src.txt"));
  assert.equal(hold.call.arguments.files_in, "unknown");
  assert.match(hold.context.not_known, /Nobody has looked at the agent's files/);
  assert.equal(hold.preview.diff, null);
  await w.api(`/v1/holds/${hold.id}/answer`, { digest: hold.digest, answer: { verdict: "approve" } });
  const out = await going;
  assert.ok(w.has("src.txt"), out.out);
});

test("claude: a file that changes while people look at its diff is not written", async (t) => {
  const w = await world(t);
  const file = join(w.home, "outside.txt");
  writeFileSync(file, "one\n");
  await w.play(
    { when: { request: 1 }, say: [call("Read", { file_path: file })] },
    { when: { request: 2 }, say: [call("Edit", { file_path: file, old_string: "one", new_string: "two" }, "toolu_2")] },
    { say: [text("ok {result}")] },
  );
  await claude.setUp(w);
  const going = claude.go(w);
  const edit = await w.hold((hold) => hold.call.tool === "Edit");
  writeFileSync(file, "one, and more\n");
  await w.api(`/v1/holds/${edit.id}/answer`, { digest: edit.digest, answer: { verdict: "approve" } });
  await going;
  assert.match(await w.heard(), /has changed since the question was asked/);
});
