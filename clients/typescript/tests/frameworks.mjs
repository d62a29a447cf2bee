// What every framework is asked: the same days of a tool that waits. `go(folder, client, texts, options)` runs an agent that
// wants to append each text, and returns its last words.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Client, Unreachable } from "holdpoint";

import { fresh } from "./server.mjs";

async function inFolder(work) {
  const folder = await mkdtemp(join(tmpdir(), "holdpoint-framework-"));
  const wrote = () => (existsSync(join(folder, "proof.txt")) ? readFileSync(join(folder, "proof.txt"), "utf8") : "");
  try {
    return await work(folder, wrote);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs the agent, answers each of its holds, and tells what came of it. */
function day(server, go, answer, texts = ["once"], run = fresh("run"), again = false) {
  return inFolder(async (folder, wrote) => {
    const client = new Client({ url: server.url, token: server.token });
    const title = ({ args }) => `${run} ${args.text}`;
    const going = go(folder, client, texts, { run, title });
    going.catch(() => undefined);
    const held = [];
    for (const text of texts) held.push(await server.person.opened(`${run} ${text}`));
    assert.equal(wrote(), "", "it ran before it was approved");
    for (const hold of held) await answer(hold);
    let said = await going;
    // As after a crash that lost the framework's own record.
    if (again) said = await go(folder, client, texts, { run, title });
    return { said, wrote: wrote(), outcome: (await server.person.show(held[0].id)).outcome };
  });
}

export async function days(server, go) {
  const { person } = server;
  const yes = await day(server, go, (hold) => person.approve(hold));
  const outcome = { state: "succeeded", result: "appended once" };
  assert.deepEqual(yes, { said: "appended once", wrote: "once\n", outcome });

  const no = await day(server, go, (hold) => person.deny(hold, "not today"));
  assert.match(no.said, /not today/);
  assert.deepEqual([no.wrote, no.outcome], ["", null]);

  const edited = await day(server, go, (hold) => person.approve(hold, { text: "other" }));
  assert.match(edited.said, /again with exactly these: \{"text":"other"\}/);
  assert.deepEqual([edited.wrote, edited.outcome], ["", null]);

  const oneOfTwo = (hold) => (hold.title.endsWith("one") ? person.deny(hold, "no") : person.approve(hold));
  assert.equal((await day(server, go, oneOfTwo, ["one", "two"])).wrote, "two\n");

  const twice = await day(server, go, (hold) => person.approve(hold), ["once"], fresh("run"), true);
  assert.match(twice.said, /has run already/);
  assert.equal(twice.wrote, "once\n");

  await inFolder(async (folder, wrote) => {
    const client = new Client({ url: server.url, token: server.token });
    assert.match(await go(folder, client, ["once"], { run: fresh("run"), expiresInS: 1 }), /expired/);
    const away = new Client({ url: "http://127.0.0.1:9", token: server.token, patienceMs: 200 });
    await assert.rejects(go(folder, away, ["once"], { run: fresh("run") }), Unreachable);
    assert.equal(wrote(), "");
  });
}

/** An example that is killed while it waits, and started again. */
export function goesOnAfterARestart(server, example, env = {}) {
  return inFolder(async (folder, wrote) => {
    const own = { ...process.env, ...env, HOLDPOINT_SERVER: server.url, HOLDPOINT_TOKEN: server.token };
    const words = [join(import.meta.dirname, "../examples", example), folder, fresh("run")];
    const start = () => spawn(process.execPath, words, { env: own, stdio: ["ignore", "pipe", "inherit"] });
    const first = start();
    const ended = once(first, "close");
    const hold = await server.person.opened("Call append");
    first.kill("SIGKILL");
    await ended;
    await server.person.approve(hold);
    assert.equal(wrote(), "");
    for (let time = 0; time < 2; time++) {
      const again = start();
      let told = "";
      again.stdout.on("data", (text) => (told += text));
      await once(again, "close");
      assert.equal(told.trim(), "appended once");
    }
    assert.equal(wrote(), "once\n");
    assert.equal((await server.person.show(hold.id)).outcome.state, "succeeded");
  });
}
