// PyPI mcp 2.3.0, which finds the era out by itself.

import assert from "node:assert/strict";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { HOLDPOINT_BIN, MCP_PYTHON, start } from "./world.mjs";

const SCRIPT = fileURLToPath(new URL("client.py", import.meta.url));

/** Makes the calls one after another, and says which version was spoken, what was asked in forms, and what came of the calls. */
async function run(t, w, job) {
  const child = start(MCP_PYTHON, ["-B", SCRIPT], { stdio: ["pipe", "pipe", "pipe"], cwd: w.home });
  t.after(() => child.kill("SIGKILL"));
  let [out, err] = ["", ""];
  child.stdout.on("data", (data) => (out += data));
  child.stderr.on("data", (data) => (err += data));
  child.stdin.end(JSON.stringify(job));
  const [code] = await once(child, "close");
  assert.equal(code, 0, out + err);
  const lines = out.trim().split("\n").map((line) => JSON.parse(line));
  return { ...lines.at(-1), asked: lines.slice(0, -1).map(({ asked }) => asked) };
}

/** Through `holdpoint mcp …`. */
export const python = (t, w, args, calls, { env, ...more } = {}) =>
  run(t, w, { command: HOLDPOINT_BIN, args: ["mcp", ...args], env: { ...w.env, ...env }, cwd: w.home, calls, ...more });

/** At an address of the server. */
export const pythonHttp = (t, w, path, calls, { token = w.tokens.program_token, ...more } = {}) =>
  run(t, w, { url: `${w.url}${path}`, token, calls, ...more });
