// npm @modelcontextprotocol/inspector 2.12.0 without its page. It asks for a newer Node than we do, and gets one from npm.

import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { HOLDPOINT_BIN, start } from "./world.mjs";

const packages = (path) => fileURLToPath(new URL(`partners/node_modules/${path}`, import.meta.url));
const PROGRAM = packages("@modelcontextprotocol/inspector/clients/launcher/build/index.js");

function newerNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > 22 || (major === 22 && minor >= 19)) return process.execPath;
  const fromNpm = packages(`node-linux-${process.arch}/bin/node`);
  assert.ok(existsSync(fromNpm), "the Inspector needs Node 22.19 or newer, and npm has none for this machine");
  return fromNpm;
}

/** One request through `holdpoint mcp …`: the exit code, the result that it printed, and what it said beside it. */
export async function inspect(t, w, era, request, args) {
  const options = ["--cli", "--format", "json", "--protocol-era", era, "--cwd", w.home];
  const environment = ["HOLDPOINT_TOKEN", "HOLDPOINT_SERVER"].flatMap((name) => ["-e", `${name}=${w.env[name]}`]);
  const child = start(newerNode(), [PROGRAM, ...options, ...environment, ...request, "--", HOLDPOINT_BIN, "mcp", ...args], {
    cwd: w.home,
    env: { PATH: w.env.PATH, HOME: w.home },
    stdio: ["ignore", "pipe", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  let [out, err] = ["", ""];
  child.stdout.on("data", (data) => (out += data));
  child.stderr.on("data", (data) => (err += data));
  const [code] = await once(child, "close");
  const { result } = out ? JSON.parse(out) : {};
  return { code, result, said: out + err };
}

export const listTools = ["--method", "tools/list"];
export const callTool = (name, args) => ["--method", "tools/call", "--tool-name", name, "--tool-args-json", JSON.stringify(args)];
