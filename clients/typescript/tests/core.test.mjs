// The gate on a real server: whatever is not an approval does not call the function.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { once } from "node:events";
import { after, before, test } from "node:test";

import {
  AlreadyUsed,
  Cancelled,
  Client,
  Denied,
  EditDoesNotFit,
  Expired,
  gate,
  Refused,
  Responded,
  TimedOut,
  Unreachable,
  Unreadable,
} from "holdpoint";
import { z } from "zod";

import { fresh, Server } from "./server.mjs";

let server;
before(async () => {
  server = await Server.start();
});
after(() => server.close());

/** A gated function that writes down its calls. */
function gated(options = {}, client = {}) {
  const title = fresh("delete");
  const calls = [];
  const own = new Client({ url: server.url, token: server.token, patienceMs: 20_000, ...client });
  const remove = gate(
    function remove(args) {
      calls.push(args);
      if (args.path === "/fails") throw new RangeError("busy");
      return `deleted ${args.path}`;
    },
    { title, client: own, ...options },
  );
  return { title, calls, client: own, remove };
}

/** Started now, looked at later. */
function running(promise) {
  promise.catch(() => undefined);
  return promise;
}

test("an approved call runs once with those arguments", async () => {
  const { title, calls, remove } = gated();
  const call = running(remove({ path: "/tmp/x", force: true, none: undefined }));
  const hold = await server.person.opened(title);
  assert.deepEqual(hold.call.arguments, { path: "/tmp/x", force: true });
  assert.deepEqual(calls, []);
  await server.person.approve(hold);
  assert.equal(await call, "deleted /tmp/x");
  assert.deepEqual(calls, [{ path: "/tmp/x", force: true }]);
  const { outcome } = await server.person.show(hold.id);
  assert.deepEqual(outcome, { state: "succeeded", result: "deleted /tmp/x" });
});

test("a denial throws with its reason", async () => {
  const { title, calls, remove } = gated();
  const call = running(remove({ path: "/tmp/x" }));
  await server.person.deny(await server.person.opened(title), "not today");
  await assert.rejects(call, (error) => error instanceof Denied && error.reason === "not today");
  assert.deepEqual(calls, []);
});

test("an edited call runs with the edited arguments", async () => {
  const { title, calls, remove } = gated();
  const call = running(remove({ path: "/tmp/x" }));
  await server.person.approve(await server.person.opened(title), { path: "/tmp/y" });
  assert.equal(await call, "deleted /tmp/y");
  assert.deepEqual(calls, [{ path: "/tmp/y" }]);
});

test("an edit that does not fit calls nothing and uses nothing", async () => {
  const schema = z.strictObject({ path: z.string(), depth: z.number().max(3) });
  for (const [edited, options] of [
    [{ path: 7, depth: 1 }, {}],
    [{ path: "/tmp/x" }, {}],
    [{ path: "/tmp/x", depth: 1, more: 1 }, {}],
    [{ path: "/tmp/x", depth: 9 }, { schema }],
    [{ path: "/etc", depth: 1 }, { schema, check: (args) => args.path.startsWith("/tmp/") }],
    [{ path: "/tmp/x", depth: Number.MAX_SAFE_INTEGER + 3 }, {}],
  ]) {
    const { title, calls, remove } = gated(options);
    const call = running(remove({ path: "/tmp/x", depth: 1 }));
    const hold = await server.person.opened(title);
    await server.person.approve(hold, edited);
    await assert.rejects(call, EditDoesNotFit, JSON.stringify(edited));
    assert.deepEqual(calls, []);
    assert.equal((await server.person.show(hold.id)).outcome, null);
  }
});

test("an answer in its place is handed over", async () => {
  const { title, calls, remove } = gated();
  const call = running(remove({ path: "/tmp/x" }));
  await server.person.answer(await server.person.opened(title), { verdict: "respond", content: "it is gone" });
  await assert.rejects(call, (error) => error instanceof Responded && error.content === "it is gone");
  assert.deepEqual(calls, []);
});

test("an expired hold and a cancelled hold throw", async () => {
  const late = gated({ expiresInS: 1 });
  await assert.rejects(late.remove({ path: "/tmp/x" }), Expired);
  const { title, calls, client, remove } = gated();
  const call = running(remove({ path: "/tmp/x" }));
  await client.cancel((await server.person.opened(title)).id, "no longer needed");
  await assert.rejects(call, (error) => error instanceof Cancelled && error.reason === "no longer needed");
  assert.deepEqual([late.calls, calls], [[], []]);
});

test("a time-out and an abort withdraw a hold that nobody could find again", async () => {
  const late = gated({ timeoutMs: 1200 });
  const error = await late.remove({ path: "/tmp/x" }).then(assert.fail, (error) => error);
  assert.ok(error instanceof TimedOut, String(error));
  assert.equal((await server.person.show(error.hold.id)).state, "cancelled");
  const { title, calls, remove } = gated();
  const abort = new AbortController();
  const call = running(remove({ path: "/tmp/x" }, { signal: abort.signal }));
  const hold = await server.person.opened(title);
  abort.abort(new Error("enough"));
  await assert.rejects(call, /enough/);
  assert.equal((await server.person.show(hold.id)).state, "cancelled");
  assert.deepEqual([late.calls, calls], [[], []]);
});

test("an abort while the question is on its way withdraws it, too", async () => {
  const abort = new AbortController();
  let opened;
  const onItsWay = async (url, init) => {
    const reply = await fetch(url, init);
    if (init.method === "POST" && String(url).endsWith("/v1/holds")) {
      opened = await reply.clone().json();
      // The hold is there, and its program has not read the reply.
      abort.abort(new Error("enough"));
    }
    return reply;
  };
  const { calls, remove } = gated({}, { fetch: onItsWay });
  await assert.rejects(remove({ path: "/tmp/x" }, { signal: abort.signal }), /enough/);
  assert.equal((await server.person.show(opened.id)).state, "cancelled");
  assert.deepEqual(calls, []);
});

test("with a key the decision is found again, and is used once", async () => {
  const { title, calls, remove } = gated({ timeoutMs: 1200, key: fresh("key") });
  const error = await remove({ path: "/tmp/x" }).then(assert.fail, (error) => error);
  assert.equal((await server.person.show(error.hold.id)).state, "pending");
  await server.person.approve(await server.person.opened(title));
  const both = await Promise.allSettled([remove({ path: "/tmp/x" }), remove({ path: "/tmp/x" })]);
  assert.equal(calls.length, 1);
  assert.ok(both.find((one) => one.status === "rejected").reason instanceof AlreadyUsed);
  await assert.rejects(remove({ path: "/tmp/y" }), (error) => error.code === "idempotency_key_reused");
  await assert.rejects(remove({ path: "/tmp/x" }), (error) => error.result === "deleted /tmp/x");
});

test("changed arguments in the same run are asked again", async () => {
  const { title, calls, remove } = gated({ run: fresh("run") });
  const one = running(remove({ path: "/tmp/x" }));
  await server.person.approve(await server.person.opened(title));
  await one;
  const two = running(remove({ path: "/tmp/y" }));
  await server.person.deny(await server.person.opened(title), "no");
  await assert.rejects(two, Denied);
  await assert.rejects(remove({ path: "/tmp/x" }), AlreadyUsed);
  assert.equal(calls.length, 1);
});

test("without a server, and with a wrong token, nothing runs", async () => {
  const closed = createServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const { port } = closed.address();
  closed.close();
  await once(closed, "close");
  const away = gated({}, { url: `http://127.0.0.1:${port}`, patienceMs: 300 });
  await assert.rejects(away.remove({ path: "/tmp/x" }), Unreachable);
  const wrong = gated({}, { token: `hp_program_${"0".repeat(64)}` });
  await assert.rejects(wrong.remove({ path: "/tmp/x" }), (error) => error instanceof Refused && error.status === 401);
  assert.deepEqual([away.calls, wrong.calls], [[], []]);
});

test("nonsense from the server calls nothing", async () => {
  const hold = (parts) =>
    JSON.stringify({ id: "hold_1", state: "approved", digest: "d", title: "t", call: null, answers: [], decision: null, ...parts });
  const call = { tool: "remove", arguments: { path: "/tmp/x" } };
  const changed = hold({ call, digest: "e" });
  for (const [reply, outcome] of [
    [[200, "<html>log in</html>"]],
    [[201, "[]"]],
    [[302, ""]],
    [[204, ""]],
    [[201, hold({ state: "fine" })]],
    [[201, hold({})]],
    [[201, hold({ call: { tool: "remove", arguments: { path: "/etc" } } })]],
    [[404, "not here"]],
    [[201, hold({ call })], [200, changed]],
    [[201, hold({ call })], [500, "<html>"]],
  ]) {
    const odd = createServer((request, response) => {
      const [status, body] = outcome && request.url.endsWith("outcome") ? outcome : reply;
      response.writeHead(status).end(status === 204 ? undefined : body);
    }).listen(0, "127.0.0.1");
    await once(odd, "listening");
    const { calls, remove } = gated({}, { url: `http://127.0.0.1:${odd.address().port}`, patienceMs: 300 });
    await assert.rejects(remove({ path: "/tmp/x" }), Unreadable, JSON.stringify(reply));
    assert.deepEqual(calls, []);
    odd.closeAllConnections();
    odd.close();
  }
});

test("what the function throws is passed on and reported", async () => {
  const { title, remove } = gated();
  const call = running(remove({ path: "/fails" }));
  const hold = await server.person.opened(title);
  await server.person.approve(hold);
  await assert.rejects(call, RangeError);
  assert.deepEqual((await server.person.show(hold.id)).outcome, { state: "failed", result: "RangeError: busy" });
});

test("what is changed while waiting is not what runs, and only JSON is asked about", async () => {
  const { title, calls, remove } = gated();
  const args = { path: "/tmp/x", to: ["ana"] };
  const call = running(remove(args));
  const hold = await server.person.opened(title);
  args.to.push("everyone");
  await server.person.approve(hold);
  await call;
  assert.deepEqual(calls, [{ path: "/tmp/x", to: ["ana"] }]);
  for (const bad of [{ at: new Date() }, { n: NaN }, { n: 1n }, { f: () => 1 }, { s: "\ud800" }, ["x"], new Map()]) {
    await assert.rejects(remove(bad), TypeError);
  }
});

test("the server is killed while a call waits", async () => {
  const { title, calls, remove } = gated();
  const call = running(remove({ path: "/tmp/x" }));
  const hold = await server.person.opened(title);
  await server.kill();
  await server.start();
  assert.deepEqual(calls, []);
  await server.person.approve(hold);
  assert.equal(await call, "deleted /tmp/x");
  assert.equal(calls.length, 1);
});
