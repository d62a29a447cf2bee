// Programs of others, from `partners/`. They ask for a newer Node than we do, and npm brings one.

import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { start } from "./world.mjs";

export const partner = (path) => fileURLToPath(new URL(`partners/node_modules/${path}`, import.meta.url));

export function newerNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > 22 || (major === 22 && minor >= 19)) return process.execPath;
  const fromNpm = partner(`node-linux-${process.arch}/bin/node`);
  assert.ok(existsSync(fromNpm), "these programs need Node 22.19 or newer, and npm has none for this machine");
  return fromNpm;
}

/** Runs a program to its end, in the test's folder, and without our token if nothing else is said. */
export async function run(t, w, program, args, env = { PATH: w.env.PATH, HOME: w.home }) {
  const child = start(program, args, { cwd: w.home, env, stdio: ["ignore", "pipe", "pipe"] });
  t.after(() => child.kill("SIGKILL"));
  let [out, err] = ["", ""];
  child.stdout.on("data", (data) => (out += data));
  child.stderr.on("data", (data) => (err += data));
  const [code] = await once(child, "close");
  return { code, out, err };
}
