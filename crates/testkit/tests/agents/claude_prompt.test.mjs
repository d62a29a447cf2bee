// Claude Code's permission prompt: its own rules leave a call open, and it asks `holdpoint mcp serve`. There is no hook.

import assert from "node:assert/strict";
import { test } from "node:test";
import { nowhere } from "../real_server.mjs";
import { claude } from "./agents.mjs";
import { PROOF, prepared, text } from "./world.mjs";

async function prompted(t, command = PROOF, options = {}) {
  const w = await prepared(t, claude, claude.shell(command), options);
  await w.uninstall("claude");
  return w;
}

test("claude's prompt: what a rule allows runs, and nobody is asked", async (t) => {
  const w = await prompted(t, "echo allowed > allowed.txt");
  const out = await claude.prompt(w);
  assert.ok(w.has("allowed.txt"), out.out + out.err);
  assert.deepEqual((await w.api("/v1/holds?state=pending")).items, []);
});

test("claude's prompt: what a rule denies does not run, and the model hears the rule", async (t) => {
  const w = await prompted(t, "echo forbidden > proof.txt");
  await claude.prompt(w);
  assert.ok(!w.has("proof.txt"));
  assert.match(await w.heard(), /one command never runs/);
});

test("claude's prompt: approved by a person it runs, once, and the card says what it is", async (t) => {
  const again = "echo yes >> proof.txt";
  const w = await prompted(t, again);
  let going = claude.prompt(w);
  const first = await w.hold();
  assert.ok(!w.has("proof.txt"), "it waits");
  assert.equal(first.call.arguments.input.command, again);
  assert.equal(first.context.directory, w.project);
  await w.api(`/v1/holds/${first.id}/answer`, { digest: first.digest, answer: { verdict: "approve" } });
  const out = await going;
  assert.equal(w.has("proof.txt") && w.read("proof.txt"), "yes\n", out.out + out.err);
  assert.equal((await w.api(`/v1/holds/${first.id}`)).outcome.state, "executing");
  await w.play({ when: { results: 0 }, say: [claude.shell(again)] }, { say: [text("ok")] });
  going = claude.prompt(w);
  await w.answer({ verdict: "deny", reason: "once is enough" }, (hold) => hold.id !== first.id);
  await going;
  assert.equal(w.read("proof.txt"), "yes\n");
});

test("claude's prompt: denied by a person it does not run, and the model hears the reason", async (t) => {
  const w = await prompted(t);
  const going = claude.prompt(w);
  await w.answer({ verdict: "deny", reason: "not on a Friday" });
  await going;
  assert.ok(!w.has("proof.txt"));
  assert.match(await w.heard(), /not on a Friday/);
});

test("claude's prompt: approved with other arguments it runs with those", async (t) => {
  const w = await prompted(t);
  const going = claude.prompt(w);
  const hold = await w.hold();
  const input = { ...hold.call.arguments.input, command: "echo edited > edited.txt" };
  const answer = { verdict: "approve", arguments: { ...hold.call.arguments, input } };
  await w.api(`/v1/holds/${hold.id}/answer`, { digest: hold.digest, answer });
  const out = await going;
  assert.ok(w.has("edited.txt"), out.out + out.err);
  assert.ok(!w.has("proof.txt"));
});

test("claude's prompt: nobody answers while it waits, and it does not run", async (t) => {
  const w = await prompted(t);
  const going = claude.prompt(w, { wait: 2 });
  const hold = await w.hold();
  await going;
  assert.ok(!w.has("proof.txt"));
  assert.match(await w.heard(), /nobody answered within 2 s/);
  assert.equal((await w.api(`/v1/holds/${hold.id}`)).state, "cancelled");
});

test("claude's prompt: the policy ends the question, and it does not run", async (t) => {
  const w = await prompted(t, PROOF, { expires: "2s" });
  const going = claude.prompt(w, { wait: 200 });
  const hold = await w.hold();
  await going;
  assert.ok(!w.has("proof.txt"));
  assert.match(await w.heard(), /Expired: nobody answered in time/);
  assert.equal((await w.api(`/v1/holds/${hold.id}`)).state, "expired");
});

test("claude's prompt: without a server nothing runs, and the model hears what to do", async (t) => {
  const w = await prompted(t);
  await claude.prompt(w, { server: await nowhere() });
  assert.ok(!w.has("proof.txt"));
  assert.match(await w.heard(), /holdpoint serve/);
});

test("claude's prompt: the server is killed while it waits, and it does not run", async (t) => {
  const w = await prompted(t);
  const going = claude.prompt(w, { wait: 4 });
  await w.hold();
  await w.killServer();
  await going;
  assert.ok(!w.has("proof.txt"));
  assert.match(await w.heard(), /did not let this pass/);
});

test("claude's prompt: the server is killed while it waits and started again, and what is approved runs", async (t) => {
  const w = await prompted(t);
  const going = claude.prompt(w);
  const hold = await w.hold();
  await w.killServer();
  await w.restartServer();
  await w.api(`/v1/holds/${hold.id}/answer`, { digest: hold.digest, answer: { verdict: "approve" } });
  const out = await going;
  assert.ok(w.has("proof.txt"), out.out + out.err);
  assert.equal((await w.api(`/v1/holds/${hold.id}`)).outcome.state, "executing");
});
