// Our hook with what should not come: calls that are none, servers that fall silent, tokens that end while a call waits.
// Each is denied, in the agent's words and by the exit code, and the agent hears why.

import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { HOLDPOINT_BIN, nowhere, start } from "../real_server.mjs";
import { claude } from "./agents.mjs";
import { PROOF, prepared, run, world } from "./world.mjs";

const PUSH = {
  hook_event_name: "PreToolUse",
  session_id: "s1",
  tool_name: "Bash",
  tool_input: { command: "git push" },
  tool_use_id: "toolu_1",
};
const push = (w) => ({ ...PUSH, cwd: w.project });

/** How each agent is told no. */
const REASONS = {
  claude: (said) => [said.hookSpecificOutput.permissionDecision, said.hookSpecificOutput.permissionDecisionReason],
  codex: (said) => [said.hookSpecificOutput.permissionDecision, said.hookSpecificOutput.permissionDecisionReason],
  gemini: (said) => [said.decision, said.reason],
  cursor: (said) => [said.permission, said.agent_message],
};

const GARBAGE = [
  ["nothing at all", "", /is no call/],
  ["no JSON", "rm -rf /\n", /is no call/],
  ["half a call", '{"hook_event_name":"PreToolUse","tool_na', /is no call/],
  ["bytes that are no text", Buffer.from([0xff, 0xfe, 0x00, 0x80]), /is no call/],
  ["a list", "[]", /is no call/],
  ["two calls", `${JSON.stringify(PUSH)}\n${JSON.stringify(PUSH)}`, /is no call/],
  ["a key that is there twice", '{"tool_name":"Read","tool_name":"Bash"}', /is no call/],
  ["another event", '{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{}}', /hook install|is no call/],
  ["nested too deeply", "[".repeat(100_000), /is no call/],
];

for (const agent of Object.keys(REASONS)) {
  test(`${agent}: what is no call is denied, with a message that says so`, async () => {
    // The server is not asked, so it may as well not be there.
    const args = ["hook", agent, "--server", await nowhere(), "--wait", "20s"];
    for (const [what, bytes, why] of GARBAGE) {
      const hook = start(HOLDPOINT_BIN, args, { stdio: ["pipe", "pipe", "pipe"] });
      hook.stdin.end(bytes);
      let [out, err] = ["", ""];
      hook.stdout.on("data", (data) => (out += data));
      hook.stderr.on("data", (data) => (err += data));
      const [code] = await once(hook, "close");
      const [decision, reason] = REASONS[agent](JSON.parse(out));
      assert.deepEqual([code, decision], [2, "deny"], what);
      assert.match(reason, why, what);
      assert.match(err, why, what);
      assert.match(reason, /Nothing was run/, what);
    }
  });
}

/** Takes connections, and answers the first requests with `replies`; then it says nothing any more. */
async function silent(t, ...replies) {
  const sockets = new Set();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("data", () => {
      const body = replies.shift();
      if (body) socket.write(`HTTP/1.1 201 Created\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    sockets.forEach((socket) => socket.destroy());
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}`;
}

test("a server that takes the call and says nothing does not keep the agent waiting", async (t) => {
  const w = await world(t);
  const out = await w.hook("claude", push(w), { server: await silent(t), wait: 1 });
  assert.deepEqual([out.decision, out.code], ["deny", 2]);
  assert.match(out.reason, /the server did not take the question in time/);
});

test("a server that falls silent after it took the question does not keep the agent waiting", async (t) => {
  const w = await world(t);
  const hold = { id: "hold_01jd0000000000000000000000", state: "pending", call: null, decision: null };
  const out = await w.hook("claude", push(w), { server: await silent(t, JSON.stringify(hold)), wait: 1 });
  assert.deepEqual([out.decision, out.code], ["deny", 2]);
  assert.match(out.reason, /nobody answered within 1 s/);
});

test("claude: before a server that says nothing the call does not run", async (t) => {
  const w = await prepared(t, claude, claude.shell(PROOF), { server: await silent(t), wait: 2 });
  await claude.go(w);
  assert.ok(!w.has("proof.txt"));
  assert.match(await w.heard(), /the server did not take the question in time/);
});

test("a token that is revoked while the hook waits is of no use, also if the call was approved", async (t) => {
  const w = await world(t);
  const made = await w.api("/v1/tokens", { program: "short", scopes: ["ask"] });
  w.env.HOLDPOINT_TOKEN = made.token;
  const asking = w.hook("claude", push(w));
  const hold = await w.hold();
  const headers = { authorization: `Bearer ${w.tokens.person_token}` };
  const gone = await fetch(`${w.url}/v1/tokens/${made.id}`, { method: "DELETE", headers });
  assert.ok(gone.ok, await gone.text());
  await w.api(`/v1/holds/${hold.id}/answer`, { digest: hold.digest, answer: { verdict: "approve" } });
  const out = await asking;
  assert.deepEqual([out.decision, out.code], ["deny", 2]);
  assert.match(out.reason, /unknown, expired or revoked/);
  assert.equal((await w.api(`/v1/holds/${hold.id}`)).outcome, null, "it was not begun");
});

test("a token that expires while the hook waits is of no use, also if the call was approved", async (t) => {
  const w = await world(t);
  const made = await w.api("/v1/tokens", { program: "brief", scopes: ["ask"], expires_in_s: 2 });
  w.env.HOLDPOINT_TOKEN = made.token;
  const asking = w.hook("claude", push(w));
  const hold = await w.hold();
  const headers = { authorization: `Bearer ${made.token}` };
  const wait = async () => (await fetch(`${w.url}/v1/holds/${hold.id}/wait?timeout_s=1`, { headers })).status;
  while ((await wait()) !== 401);
  await w.api(`/v1/holds/${hold.id}/answer`, { digest: hold.digest, answer: { verdict: "approve" } });
  const out = await asking;
  assert.deepEqual([out.decision, out.code], ["deny", 2]);
  assert.match(out.reason, /unknown, expired or revoked/);
  assert.equal((await w.api(`/v1/holds/${hold.id}`)).outcome, null, "it was not begun");
});

/** Stands in for the clock of libc, which every program of this machine asks. What only counts on, such as a wait, stays right. */
const OTHER_CLOCK = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *at) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int failed = real(clock, at);
  const char *seconds = getenv("CLOCK_AHEAD_S");
  if (!failed && seconds && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) at->tv_sec += atol(seconds);
  return failed;
}
`;

/** What makes a program's clock so many seconds wrong. */
async function otherClock(t, seconds) {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-clock-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [source, library] = [join(folder, "clock.c"), join(folder, "clock.so")];
  writeFileSync(source, OTHER_CLOCK);
  const built = await run("cc", ["-shared", "-fPIC", "-Wall", "-Werror", "-o", library, source, "-ldl"], {});
  assert.equal(built.code, 0, built.err);
  return { LD_PRELOAD: library, CLOCK_AHEAD_S: String(seconds) };
}

const DAY_S = 24 * 3600;
for (const [clock, seconds] of [["a day slow", -DAY_S], ["a day fast", DAY_S]]) {
  test(`a clock that is ${clock} where the hook runs changes nothing: the server's word counts`, async (t) => {
    const w = await world(t);
    const made = await w.api("/v1/tokens", { program: "hourly", scopes: ["ask"], expires_in_s: 3600 });
    Object.assign(w.env, await otherClock(t, seconds), { HOLDPOINT_TOKEN: made.token });
    const doctor = await run(HOLDPOINT_BIN, ["doctor", "--server", w.url], { cwd: w.project, env: w.env });
    // A day, less the fraction of a second that the server's date leaves out and the time of the request.
    assert.match(doctor.out, /server clock .*86(39|40)\d s/, "the program's clock is wrong");

    const call = (command, tool_use_id) => ({ ...push(w), tool_input: { command }, tool_use_id });
    const allowed = await w.hook("claude", call("ls", "toolu_1"));
    assert.deepEqual([allowed.decision, allowed.code], ["allow", 0], allowed.reason);
    const denied = await w.hook("claude", call("echo forbidden > proof.txt", "toolu_2"));
    assert.deepEqual([denied.decision, denied.code], ["deny", 0], denied.reason);
    assert.match(denied.reason, /by the rule "one command never runs"/);
    const asking = w.hook("claude", call("git push", "toolu_3"));
    const hold = await w.answer({ verdict: "approve" });
    const approved = await asking;
    assert.deepEqual([approved.decision, approved.code], ["allow", 0], approved.reason);
    assert.equal((await w.api(`/v1/holds/${hold.id}`)).outcome.state, "executing");
    const refusing = w.hook("claude", call("git push --tags", "toolu_4"));
    await w.answer({ verdict: "deny", reason: "not today" });
    const refused = await refusing;
    assert.deepEqual([refused.decision, refused.code], ["deny", 0], refused.reason);
    assert.match(refused.reason, /not today/);
  });

  test(`a question expires by the server's clock, also where the hook's clock is ${clock}`, async (t) => {
    const w = await world(t, { expires: "2s" });
    Object.assign(w.env, await otherClock(t, seconds));
    const out = await w.hook("claude", push(w));
    assert.equal(out.decision, "deny");
    assert.match(out.reason, /Expired: nobody answered in time/);
    assert.equal((await w.api("/v1/holds?limit=100")).items[0].state, "expired");
  });
}
