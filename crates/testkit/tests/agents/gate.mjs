// Real coding agents behind our hook. In every test the agent's model wants to run one command that leaves a proof file:
// the file is there only if the call was allowed or approved.

import assert from "node:assert/strict";
import { test } from "node:test";
import { nowhere } from "../real_server.mjs";
import { PROOF, prepared, text, world } from "./world.mjs";

const TITLES = { claude: "Claude Code", codex: "Codex", gemini: "Gemini CLI" };

/** For every agent. */
export function testGate(agent) {
  test(`${agent.name}: without the hook the command runs, so that the tests below can fail`, async (t) => {
    const w = await prepared(t, agent, agent.shell(PROOF));
    await w.uninstall(agent.hook);
    const out = await agent.go(w);
    assert.ok(w.has("proof.txt"), out.out + out.err);
  });

  test(`${agent.name}: what a rule allows runs, and nobody is asked`, async (t) => {
    const w = await prepared(t, agent, agent.shell("echo allowed > allowed.txt"));
    const out = await agent.go(w);
    assert.equal(out.code, 0, out.out + out.err);
    assert.ok(w.has("allowed.txt"), out.out);
    assert.deepEqual((await w.api("/v1/holds?state=pending")).items, []);
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
    assert.equal(hold.context.agent, TITLES[agent.hook]);
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

  test(`${agent.name}: nobody answers while the hook waits, and it does not run`, async (t) => {
    const w = await prepared(t, agent, agent.shell(PROOF), { wait: 2 });
    const going = agent.go(w);
    const hold = await w.hold();
    await going;
    assert.ok(!w.has("proof.txt"));
    assert.match(await w.heard(), /nobody answered within 2 s, so the question was withdrawn/);
    assert.equal((await w.api(`/v1/holds/${hold.id}`)).state, "cancelled");
  });

  test(`${agent.name}: the policy ends the question before the hook stops waiting, and it does not run`, async (t) => {
    const w = await prepared(t, agent, agent.shell(PROOF), { wait: 200, expires: "2s" });
    const going = agent.go(w);
    const hold = await w.hold();
    await going;
    assert.ok(!w.has("proof.txt"));
    assert.match(await w.heard(), /Expired: nobody answered in time/);
    assert.equal((await w.api(`/v1/holds/${hold.id}`)).state, "expired");
  });

  test(`${agent.name}: without a server nothing runs, and the model hears what to do`, async (t) => {
    const w = await prepared(t, agent, agent.shell(PROOF), { server: await nowhere() });
    await agent.go(w);
    assert.ok(!w.has("proof.txt"));
    assert.match(await w.heard(), agent.http ? /HTTP hook|hook/ : /holdpoint serve/);
  });

  test(`${agent.name}: with a wrong token nothing runs`, async (t) => {
    const w = await prepared(t, agent, agent.shell(PROOF));
    w.env.HOLDPOINT_TOKEN = "hp_program_wrong";
    await agent.go(w);
    assert.ok(!w.has("proof.txt"));
    assert.match(await w.heard(), /unknown, expired or revoked/);
  });

  test(`${agent.name}: without a token nothing runs`, async (t) => {
    const w = await prepared(t, agent, agent.shell(PROOF));
    delete w.env.HOLDPOINT_TOKEN;
    await agent.go(w);
    assert.ok(!w.has("proof.txt"));
    assert.match(await w.heard(), /did not let this call pass/);
  });

  test(`${agent.name}: while all is frozen nothing runs, not even what a rule allows`, async (t) => {
    const w = await prepared(t, agent, agent.shell("echo allowed > allowed.txt"));
    await w.api("/v1/freeze", { reason: "an incident" });
    await agent.go(w);
    assert.ok(!w.has("allowed.txt"));
    assert.match(await w.heard(), /an incident/);
  });

  test(`${agent.name}: the server is killed while it waits, and it does not run`, async (t) => {
    const w = await prepared(t, agent, agent.shell(PROOF), { wait: 4 });
    const going = agent.go(w);
    await w.hold();
    await w.killServer();
    await going;
    assert.ok(!w.has("proof.txt"));
    assert.match(await w.heard(), agent.http ? /hook/ : /did not let this call pass/);
  });

  test(`${agent.name}: the server is killed while it waits and started again`, async (t) => {
    const w = await prepared(t, agent, agent.shell(PROOF));
    const going = agent.go(w);
    const hold = await w.hold();
    await w.killServer();
    // A request over HTTP dies with its server, and the call with it. The command asks again.
    if (agent.http) await going;
    await w.restartServer();
    await w.api(`/v1/holds/${hold.id}/answer`, { digest: hold.digest, answer: { verdict: "approve" } });
    const out = await going;
    assert.equal(w.has("proof.txt"), !agent.http, out.out + out.err);
    assert.equal((await w.api(`/v1/holds/${hold.id}`)).outcome?.state, agent.http ? undefined : "executing");
  });

  test(`${agent.name}: an approval is for one call; the same call again, and one with other arguments, ask again`, async (t) => {
    const w = await world(t);
    const again = "echo yes >> proof.txt";
    await w.play(
      { when: { request: 1 }, say: [agent.shell(again, "toolu_1")] },
      { when: { request: 2 }, say: [agent.shell(again, "toolu_2")] },
      { when: { request: 3 }, say: [agent.shell("echo changed >> proof.txt", "toolu_3")] },
      { say: [text("It said: {result}")] },
    );
    await agent.setUp(w);
    const going = agent.go(w);
    const first = await w.answer({ verdict: "approve" });
    const second = await w.answer({ verdict: "deny", reason: "once is enough" }, (hold) => hold.id !== first.id);
    assert.deepEqual(second.call.arguments, first.call.arguments);
    const third = await w.answer({ verdict: "deny" }, (hold) => ![first.id, second.id].includes(hold.id));
    assert.equal(third.call.arguments.input.command, "echo changed >> proof.txt");
    await going;
    assert.equal(w.read("proof.txt"), "yes\n");
    assert.match(await w.heard(), /once is enough/);
  });
}

/** For hooks that are a command. */
export function testCommand(agent) {
  for (const [what, program] of [["is gone", "/nowhere/holdpoint"], ["fails without a word", "/bin/false"]]) {
    test(`${agent.name}: the hook's program ${what}, and it does not run`, async (t) => {
      const changed = (settings) => settings.replace(process.env.HOLDPOINT_BIN, program);
      const w = await prepared(t, agent, agent.shell(PROOF), { changed });
      await agent.go(w);
      assert.ok(!w.has("proof.txt"));
    });
  }

  // More than a pipe holds: an agent that cannot hand all of it over may take the hook for failed.
  test(`${agent.name}: a long call whose hook is gone does not run`, async (t) => {
    const changed = (settings) => settings.replace(process.env.HOLDPOINT_BIN, "/nowhere/holdpoint");
    const w = await prepared(t, agent, agent.shell(`${PROOF} # ${"x".repeat(100_000)}`), { changed });
    await agent.go(w);
    assert.ok(!w.has("proof.txt"));
  });
}

/** For agents that block by themselves when a hook fails, and that can be deferred. */
export function testClaude(agent) {
  test(`${agent.name}: its own time-out for the hook blocks, too`, async (t) => {
    const changed = (settings) => settings.replace('"timeout": 600', '"timeout": 2');
    const w = await prepared(t, agent, agent.shell(PROOF), { wait: 60, changed });
    const going = agent.go(w);
    const hold = await w.hold();
    await going;
    assert.ok(!w.has("proof.txt"));
    // Over HTTP the server sees the agent go.
    if (agent.http) assert.equal((await w.api(`/v1/holds/${hold.id}/wait?timeout_s=20`)).state, "cancelled");
  });

  test(`${agent.name}: deferred it ends, and goes on with the answer when it is resumed, once`, async (t) => {
    const w = await prepared(t, agent, agent.shell("echo yes >> proof.txt"), { wait: 1, defer: true });
    const first = JSON.parse((await agent.go(w)).out);
    assert.equal(first.terminal_reason ?? first.stop_reason, "tool_deferred");
    assert.ok(!w.has("proof.txt"));
    const hold = await w.answer({ verdict: "approve" });
    const second = await agent.go(w, ["--resume", first.session_id]);
    assert.ok(w.has("proof.txt"), second.out + second.err);
    assert.equal((await w.api(`/v1/holds/${hold.id}`)).outcome.state, "executing");
    // The same command in the same session is a question of its own.
    await w.play({ when: { results: 0 }, say: [agent.shell("echo yes >> proof.txt", "toolu_2")] }, { say: [text("ok")] });
    const third = JSON.parse((await agent.go(w, ["--resume", first.session_id, "again"])).out);
    assert.equal(third.terminal_reason ?? third.stop_reason, "tool_deferred");
    assert.equal(w.read("proof.txt"), "yes\n");
  });

  test(`${agent.name}: deferred and then denied it does not run when it is resumed`, async (t) => {
    const w = await prepared(t, agent, agent.shell(PROOF), { wait: 1, defer: true });
    const first = JSON.parse((await agent.go(w)).out);
    await w.answer({ verdict: "deny", reason: "not this week" });
    await agent.go(w, ["--resume", first.session_id]);
    assert.ok(!w.has("proof.txt"));
    assert.match(await w.heard(), /not this week/);
  });

  test(`${agent.name}: deferred, and expired before it is resumed, it does not run`, async (t) => {
    const w = await prepared(t, agent, agent.shell(PROOF), { wait: 1, defer: true, expires: "3s" });
    const first = JSON.parse((await agent.go(w)).out);
    assert.equal(first.terminal_reason ?? first.stop_reason, "tool_deferred");
    const [{ id }] = (await w.api("/v1/holds?kind=approve")).items;
    assert.equal((await w.api(`/v1/holds/${id}/wait?timeout_s=20`)).state, "expired");
    await agent.go(w, ["--resume", first.session_id]);
    assert.ok(!w.has("proof.txt"));
    assert.match(await w.heard(), /Expired: nobody answered in time/);
  });

  test(`${agent.name}: deferred, and the server killed and started again, it goes on with the answer, once`, async (t) => {
    const w = await prepared(t, agent, agent.shell("echo yes >> proof.txt"), { wait: 1, defer: true });
    const first = JSON.parse((await agent.go(w)).out);
    assert.equal(first.terminal_reason ?? first.stop_reason, "tool_deferred");
    await w.killServer();
    await w.restartServer();
    const hold = await w.answer({ verdict: "approve" });
    await w.killServer();
    await w.restartServer();
    const second = await agent.go(w, ["--resume", first.session_id]);
    assert.equal(w.has("proof.txt") && w.read("proof.txt"), "yes\n", second.out + second.err);
    assert.equal((await w.api(`/v1/holds/${hold.id}`)).outcome.state, "executing");
  });

  test(`${agent.name}: of two deferred calls of one turn none runs unasked, and the last alone goes on`, async (t) => {
    const w = await world(t);
    const both = [agent.shell("echo one >> one.txt", "toolu_1"), agent.shell("echo two >> two.txt", "toolu_2")];
    await w.play({ when: { results: 0 }, say: both }, { say: [text("ok")] });
    await agent.setUp(w, { wait: 1, defer: true });
    const first = JSON.parse((await agent.go(w)).out);
    assert.equal(first.terminal_reason ?? first.stop_reason, "tool_deferred");
    assert.ok(!w.has("one.txt") && !w.has("two.txt"));
    const asked = (await w.api("/v1/holds?state=pending")).items;
    assert.deepEqual(asked.map((hold) => hold.title.slice(-14)).sort(), ["one >> one.txt", "two >> two.txt"]);
    for (const { id } of asked) {
      const { digest } = await w.api(`/v1/holds/${id}`);
      await w.api(`/v1/holds/${id}/answer`, { digest, answer: { verdict: "approve" } });
    }
    const second = await agent.go(w, ["--resume", first.session_id]);
    assert.equal(w.has("two.txt") && w.read("two.txt"), "two\n", second.out + second.err);
    // Claude Code forgets the other one. Its approval is not used, and nothing has run.
    assert.ok(!w.has("one.txt"));
    const outcomes = await Promise.all(asked.map(async ({ id }) => (await w.api(`/v1/holds/${id}`)).outcome?.state));
    assert.deepEqual(outcomes.sort(), ["executing", undefined]);
  });
}

/** For agents that let a call run when a hook takes too long. `own` is their time-out in the settings. */
export function testTimeout(agent, own, shorter) {
  test(`${agent.name}: the hook answers before the agent's own time-out, after which a call would run`, async (t) => {
    const changed = (settings) => settings.replace(own, shorter);
    const w = await prepared(t, agent, agent.shell(PROOF), { wait: 2, changed });
    const going = agent.go(w);
    await w.hold();
    await going;
    assert.ok(!w.has("proof.txt"));
    assert.match(await w.heard(), /nobody answered within 2 s/);
  });
}

/** For agents that read settings of the project. */
export function testProject(agent) {
  test(`${agent.name}: a hook in the settings of the project alone holds what runs there`, async (t) => {
    const w = await prepared(t, agent, agent.shell(PROOF), { project: true });
    let going = agent.go(w);
    const first = await w.answer({ verdict: "deny", reason: "not on a Friday" });
    await going;
    assert.ok(!w.has("proof.txt"));
    assert.match(await w.heard(), /not on a Friday/);
    await w.play({ when: { results: 0 }, say: [agent.shell(PROOF, "toolu_2")] }, { say: [text("ok")] });
    going = agent.go(w);
    await w.answer({ verdict: "approve" }, (hold) => hold.id !== first.id);
    const out = await going;
    assert.ok(w.has("proof.txt"), out.out + out.err);
  });
}
