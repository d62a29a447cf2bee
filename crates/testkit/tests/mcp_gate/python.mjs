// PyPI mcp 2.3.0, which finds the era out by itself.

import assert from "node:assert/strict";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { HOLDPOINT_BIN, MCP_PYTHON, start } from "./world.mjs";

const SCRIPT = fileURLToPath(new URL("client.py", import.meta.url));

/** Makes the calls one after another, and says which version was spoken and what came of them. */
export async function python(t, w, args, calls) {
  const job = JSON.stringify({ command: HOLDPOINT_BIN, args: ["mcp", ...args], env: w.env, cwd: w.home, calls });
  const child = start(MCP_PYTHON, ["-B", SCRIPT], { stdio: ["pipe", "pipe", "pipe"], cwd: w.home });
  t.after(() => child.kill("SIGKILL"));
  let [out, err] = ["", ""];
  child.stdout.on("data", (data) => (out += data));
  child.stderr.on("data", (data) => (err += data));
  child.stdin.end(job);
  const [code] = await once(child, "close");
  assert.equal(code, 0, out + err);
  return JSON.parse(out);
}
