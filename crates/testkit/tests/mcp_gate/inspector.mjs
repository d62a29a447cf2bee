// npm @modelcontextprotocol/inspector 2.12.0 without its page.

import { newerNode, partner, run } from "./partner.mjs";
import { HOLDPOINT_BIN } from "./world.mjs";

const PROGRAM = partner("@modelcontextprotocol/inspector/clients/launcher/build/index.js");

/** One request through `holdpoint mcp …`: the exit code, the result that it printed, and what it said beside it. */
export async function inspect(t, w, era, request, args) {
  const options = ["--cli", "--format", "json", "--protocol-era", era, "--cwd", w.home];
  const environment = ["HOLDPOINT_TOKEN", "HOLDPOINT_SERVER"].flatMap((name) => ["-e", `${name}=${w.env[name]}`]);
  const words = [PROGRAM, ...options, ...environment, ...request, "--", HOLDPOINT_BIN, "mcp", ...args];
  const { code, out, err } = await run(t, w, newerNode(), words);
  const { result } = out ? JSON.parse(out) : {};
  return { code, result, said: out + err };
}

export const listTools = ["--method", "tools/list"];
export const callTool = (name, args) => ["--method", "tools/call", "--tool-name", name, "--tool-args-json", JSON.stringify(args)];
