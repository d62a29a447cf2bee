// Real coding agents behind our hook. In every test the agent's model wants to run one command that leaves a proof file:
// the file is there only if the call was allowed or approved.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { claude, codex } from "./agents.mjs";
import { call, nowhere, text, world } from "./world.mjs";

const PROOF = "echo yes > proof.txt";

/** The model calls the tool, hears the result, and says a last word. */
async function prepared(t, agent, block, options) {
  const w = await world(t);
  await w.play({ when: { results: 0 }, say: [block] }, { say: [text("It said: {result}")] });
  await agent.setUp(w, options);
  return w;
}

for (const agent of [claude, codex]) {
  test(`${agent.name}: without the hook the command runs, so that the tests below can fail`, async (t) => {
    const w = await prepared(t, agent, agent.shell(PROOF));
    await w.uninstall(agent.name);
    const out = await agent.go(w);
    assert.ok(w.has("proof.txt"), out.out + out.err);
  });

  test(`${agent.name}: what a rule allows runs, and nobody is asked`, async (t) => {
    const w = await prepared(t, agent, agent.shell("echo allowed > allowed.txt"));
    const out = await agent.go(w);
    assert.equal(out.code, 0, out.out + out.err);
    assert.ok(w.has("allowed.txt"), out.out);
    const { holds = [] } = await w.api("/v1/holds?state=pending");
    assert.equal(holds.length, 0);
  });

  test(`${agent.name}: what a rule denies does not run, and the model hears the rule`, async (t) => {
    const w = await prepared(t, agent, agent.shell("echo forbidden > proof.txt"));
    await agent.go(w);
    assert.ok(!w.has("proof.txt"));
    assert.match(await w.heard(), /one command never runs/);
  });

  test(`${agent.name}: approved by a person it runs, and the card says what it is`, async (t) => {
    const w = await prepared(t, agent, agent.shell(PROOF));
    const going = agent.go(w);
    const hold = await w.hold();
    assert.ok(!w.has("proof.txt"), "it waits");
    assert.equal(hold.call.arguments.input.command, PROOF);
    assert.equal(hold.context.directory, w.project);
    assert.match(hold.context.agent, agent === claude ? /^Claude Code$/ : /^Codex$/);
    assert.ok(hold.context.session);
    await w.api(`/v1/holds/${hold.id}/answer`, { digest: hold.digest, answer: { verdict: "approve" } });
    const out = await going;
    assert.ok(w.has("proof.txt"), out.out + out.err);
    assert.equal((await w.api(`/v1/holds/${hold.id}`)).outcome.state, "executing");
  });

  test(`${agent.name}: denied by a person it does not run, and the model hears the reason`, async (t) => {
    const w = await prepared(t, agent, agent.shell(PROOF));
    const going = agent.go(w);
    await w.answer({ verdict: "deny", reason: "not on a Friday" });
    await going;
    assert.ok(!w.has("proof.txt"));
    assert.match(await w.heard(), /not on a Friday/);
  });

  test(`${agent.name}: approved with other arguments it runs with those`, async (t) => {
    const w = await prepared(t, agent, agent.shell(PROOF));
    const going = agent.go(w);
    const hold = await w.hold();
    const input = { ...hold.call.arguments.input, command: "echo edited > edited.txt" };
    const answer = { verdict: "approve", arguments: { ...hold.call.arguments, input } };
    await w.api(`/v1/holds/${hold.id}/answer`, { digest: hold.digest, answer });
    const out = await going;
    assert.ok(w.has("edited.txt"), out.out + out.err);
    assert.ok(!w.has("proof.txt"));
  });

  test(`${agent.name}: nobody answers in time, and it does not run`, async (t) => {
    const w = await prepared(t, agent, agent.shell(PROOF), { wait: "2s" });
    const going = agent.go(w);
    const hold = await w.hold();
    await going;
    assert.ok(!w.has("proof.txt"));
    assert.match(await w.heard(), /nobody answered|Expired/);
    assert.match((await w.api(`/v1/holds/${hold.id}`)).state, /cancelled|expired/);
  });

  test(`${agent.name}: without a server nothing runs, and the model hears what to do`, async (t) => {
    const w = await prepared(t, agent, agent.shell(PROOF), { server: await nowhere() });
    await agent.go(w);
    assert.ok(!w.has("proof.txt"));
    assert.match(await w.heard(), /holdpoint serve/);
  });

  test(`${agent.name}: with a wrong token nothing runs`, async (t) => {
    const w = await prepared(t, agent, agent.shell(PROOF));
    w.env.HOLDPOINT_TOKEN = "hp_program_wrong";
    await agent.go(w);
    assert.ok(!w.has("proof.txt"));
    assert.match(await w.heard(), /unknown, expired or revoked/);
  });

  test(`${agent.name}: the server is killed while it waits, and it does not run`, async (t) => {
    const w = await prepared(t, agent, agent.shell(PROOF), { wait: "4s" });
    const going = agent.go(w);
    await w.hold();
    await w.killServer();
    await going;
    assert.ok(!w.has("proof.txt"));
    assert.match(await w.heard(), /did not let this call pass/);
  });

  test(`${agent.name}: the hook's program is gone, and it does not run`, async (t) => {
    const changed = (settings) => settings.replace(process.env.HOLDPOINT_BIN, "/nowhere/holdpoint");
    const w = await prepared(t, agent, agent.shell(PROOF), { changed });
    await agent.go(w);
    assert.ok(!w.has("proof.txt"));
  });
}

test("claude: its own time-out for the hook blocks, too", async (t) => {
  const changed = (settings) => settings.replace('"timeout": 600', '"timeout": 2');
  const w = await prepared(t, claude, claude.shell(PROOF), { wait: "60s", changed });
  const going = claude.go(w);
  await w.hold();
  await going;
  assert.ok(!w.has("proof.txt"));
});

test("codex: the hook answers before Codex's own time-out, after which a call would run", async (t) => {
  const changed = (settings) => settings.replace("timeout = 600", "timeout = 6");
  const w = await prepared(t, codex, codex.shell(PROOF), { wait: "2s", changed });
  const going = codex.go(w);
  await w.hold();
  await going;
  assert.ok(!w.has("proof.txt"));
  assert.match(await w.heard(), /nobody answered|Expired/);
});

test("claude: deferred it ends, and goes on with the answer when it is resumed, once", async (t) => {
  const w = await prepared(t, claude, claude.shell(PROOF), { wait: "1s", more: "--defer" });
  const first = JSON.parse((await claude.go(w)).out);
  assert.equal(first.terminal_reason ?? first.stop_reason, "tool_deferred");
  assert.ok(!w.has("proof.txt"));
  const hold = await w.answer({ verdict: "approve" });
  const second = await claude.go(w, ["--resume", first.session_id]);
  assert.ok(w.has("proof.txt"), second.out + second.err);
  assert.equal((await w.api(`/v1/holds/${hold.id}`)).outcome.state, "executing");
});

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

test("claude: a file that changes while people look at its diff is not written", async (t) => {
  const w = await world(t);
  const file = join(w.home, "outside.txt");
  writeFileSync(file, "one\n");
  await w.play(
    { when: { request: 1 }, say: [call("Read", { file_path: file })] },
    { when: { request: 2 }, say: [{ ...call("Edit", { file_path: file, old_string: "one", new_string: "two" }), id: "toolu_2" }] },
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
