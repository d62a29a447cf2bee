// A program that is killed while it waits, and one that is killed in its call.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { fresh, Server } from "./server.mjs";

test("a killed program finds its decision again and makes its call once", async () => {
  const server = await Server.start();
  const folder = await mkdtemp(join(tmpdir(), "holdpoint-child-"));
  try {
    for (const dies of [false, true]) {
      const [key, file] = [fresh("child"), join(folder, `proof-${dies}.txt`)];
      const start = (...words) => {
        const env = { ...process.env, HOLDPOINT_SERVER: server.url, HOLDPOINT_TOKEN: server.token };
        const child = join(import.meta.dirname, "child.mjs");
        return spawn(process.execPath, [child, key, file, ...words], { env, stdio: ["ignore", "pipe", "inherit"] });
      };
      const end = async () => {
        const child = start();
        let told = "";
        child.stdout.on("data", (text) => (told += text));
        await once(child, "close");
        return told.trim();
      };
      const first = start(...(dies ? ["die"] : []));
      const ended = once(first, "exit");
      const hold = await server.person.opened(`append ${key}`);
      if (!dies) first.kill("SIGKILL");
      if (!dies) await ended;
      await server.person.approve(hold);
      await ended;
      if (!dies) assert.equal(await end(), "appended");
      assert.equal(await end(), `already used: ${dies ? "executing undefined" : "succeeded appended"}`);
      assert.equal(await readFile(file, "utf8"), "once\n");
    }
  } finally {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
});
