// `holdpoint mcp proxy` before the public filesystem server: a file is there only if its call was allowed or approved.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { text } from "./clients.mjs";
import { nowhere, world } from "./world.mjs";

const FILES = fileURLToPath(new URL("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", import.meta.url));

/** The filesystem server, which speaks with a handshake, behind the proxy. */
export const files = (w, ...options) => ["proxy", "--name", "files", ...options, "--", process.execPath, FILES, w.room];
export const target = (w, name = "proof.txt") => ({ path: join(w.room, name), content: "yes" });

/** The same story for each official client. */
export function proxyCases(kind) {
  const say = (what) => `${kind.name}: ${what}`;

  test(say("what a rule allows passes, and what a rule denies does not"), async (t) => {
    const w = await world(t);
    const client = await kind.connect(t, w, files(w));
    assert.equal((await client.listTools()).tools.length, 14);
    const listed = await kind.call(client, "list_directory", { path: w.room });
    assert.ok(!listed.isError, text(listed));
    writeFileSync(join(w.room, "a"), "");
    const moved = await kind.call(client, "move_file", { source: join(w.room, "a"), destination: join(w.room, "b") });
    assert.equal(moved.isError, true);
    assert.match(text(moved), /moving is not for agents/);
    assert.ok(!w.has("b"));
    assert.equal((await w.pending()).length, 0);
  });

  test(say("the call is kept open until a person approves, and its outcome is on record"), async (t) => {
    const w = await world(t);
    const client = await kind.connect(t, w, files(w));
    const calling = kind.call(client, "write_file", target(w));
    const hold = await w.hold();
    assert.ok(!w.has("proof.txt"), "it waits");
    assert.equal(hold.call.tool, "files__write_file");
    assert.deepEqual(hold.call.arguments, target(w));
    assert.equal(hold.context.mcp_server, "files");
    await w.approve();
    const result = await calling;
    assert.ok(w.has("proof.txt"), text(result));
    assert.equal((await w.settled(hold.id)).outcome.state, "succeeded");
  });

  test(say("denied by a person it does not run, and the model hears the reason"), async (t) => {
    const w = await world(t);
    const client = await kind.connect(t, w, files(w));
    const calling = kind.call(client, "write_file", target(w));
    await w.answer({ verdict: "deny", reason: "not on a Friday" });
    const result = await calling;
    assert.equal(result.isError, true);
    assert.match(text(result), /not on a Friday/);
    assert.ok(!w.has("proof.txt"));
  });

  test(say("nobody answers before it expires, and it does not run"), async (t) => {
    const w = await world(t);
    const client = await kind.connect(t, w, files(w));
    writeFileSync(join(w.room, "a"), "one");
    const edits = [{ oldText: "one", newText: "two" }];
    const result = await kind.call(client, "edit_file", { path: join(w.room, "a"), edits });
    assert.equal(result.isError, true);
    assert.match(text(result), /Expired/);
    assert.equal(readFileSync(join(w.room, "a"), "utf8"), "one");
  });

  test(say("come back: the same call finds its approval, uses it once, and is asked about again"), async (t) => {
    const w = await world(t);
    const client = await kind.connect(t, w, files(w, "--wait", "1s"));
    const first = await kind.call(client, "write_file", target(w));
    assert.equal(first.isError, true);
    assert.match(text(first), /call again with the same arguments/);
    const hold = await w.approve();
    assert.ok(text(first).includes(`/holds/${hold.id}`), text(first));
    assert.ok(!w.has("proof.txt"));
    // Other arguments are another call.
    const other = await kind.call(client, "write_file", target(w, "other.txt"));
    assert.equal(other.isError, true);
    assert.ok(!w.has("other.txt"));
    const { path, content } = target(w);
    const second = await kind.call(client, "write_file", { content, path });
    assert.ok(!second.isError && w.has("proof.txt"), text(second));
    assert.equal((await w.settled(hold.id)).outcome.state, "succeeded");
    const third = await kind.call(client, "write_file", target(w));
    assert.equal(third.isError, true);
    assert.match(text(third), /waits for a person/);
  });

  test(say("a denial while nobody waited is told to the call that comes back"), async (t) => {
    const w = await world(t);
    const client = await kind.connect(t, w, files(w, "--wait", "1s"));
    await kind.call(client, "write_file", target(w));
    await w.answer({ verdict: "deny", reason: "never" });
    assert.match(text(await kind.call(client, "write_file", target(w))), /never/);
    assert.ok(!w.has("proof.txt"));
  });

  test(say("an approval is found by the next proxy, too"), async (t) => {
    const w = await world(t);
    const first = await kind.connect(t, w, files(w, "--wait", "1s"));
    await kind.call(first, "write_file", target(w));
    await first.close();
    await w.approve();
    const second = await kind.connect(t, w, files(w, "--wait", "1s"));
    const result = await kind.call(second, "write_file", target(w));
    assert.ok(!result.isError && w.has("proof.txt"), text(result));
  });

  test(say("two equal calls that wait for one approval: one runs, and the other is asked about by itself"), async (t) => {
    const w = await world(t);
    const client = await kind.connect(t, w, files(w, "--wait", "2s"));
    await kind.call(client, "write_file", target(w));
    const calls = [1, 2].map(() => kind.call(client, "write_file", target(w)));
    await w.approve();
    const results = await Promise.all(calls);
    assert.equal(results.filter((result) => !result.isError).length, 1, JSON.stringify(results));
    assert.equal((await w.pending()).length, 1);
  });

  test(say("approved with other arguments it runs with those, and the model hears it"), async (t) => {
    const w = await world(t);
    const client = await kind.connect(t, w, files(w));
    const calling = kind.call(client, "write_file", target(w));
    await w.answer({ verdict: "approve", arguments: target(w, "edited.txt") });
    const result = await calling;
    assert.ok(w.has("edited.txt") && !w.has("proof.txt"), text(result));
    assert.match(text(result), /a person changed the arguments/);
  });

  test(say("a cancelled call is withdrawn"), async (t) => {
    const w = await world(t);
    const client = await kind.connect(t, w, files(w));
    const stop = new AbortController();
    const calling = kind.call(client, "write_file", target(w), { signal: stop.signal });
    const hold = await w.hold();
    stop.abort("enough");
    await assert.rejects(calling);
    assert.equal((await w.settled(hold.id)).state, "cancelled");
    assert.ok(!w.has("proof.txt"));
  });

  test(say("without a server nothing runs, and the model hears what to do"), async (t) => {
    const w = await world(t);
    const client = await kind.connect(t, w, files(w), { env: { HOLDPOINT_SERVER: await nowhere() } });
    const result = await kind.call(client, "write_file", target(w));
    assert.equal(result.isError, true);
    assert.match(text(result), /holdpoint serve/);
    assert.ok(!w.has("proof.txt"));
  });

  test(say("the server is killed while it waits, and it does not run"), async (t) => {
    const w = await world(t);
    const client = await kind.connect(t, w, files(w, "--wait", "3s"));
    const calling = kind.call(client, "write_file", target(w));
    await w.hold();
    await w.killServer();
    assert.equal((await calling).isError, true);
    assert.ok(!w.has("proof.txt"));
  });

  test(say("progress is told to whoever wants it"), async (t) => {
    const w = await world(t);
    const client = await kind.connect(t, w, files(w));
    let calling;
    const heard = await new Promise((onprogress) => {
      calling = kind.call(client, "write_file", target(w), { onprogress });
    });
    assert.match(heard.message, /waiting for a person/);
    await w.approve();
    assert.ok(!(await calling).isError);
  });
}
