// npm @modelcontextprotocol/inspector 2.12.0 without its page.

import { fileURLToPath } from "node:url";
import { newerNode, partner, run } from "./partner.mjs";
import { files, target } from "./proxy_cases.mjs";
import { HOLDPOINT_BIN, MCP_PYTHON } from "./world.mjs";

const PROGRAM = partner("@modelcontextprotocol/inspector/clients/launcher/build/index.js");

const WRITER = fileURLToPath(new URL("upstream.py", import.meta.url));
const writer = (w, ...options) => ["proxy", "--name", "writer", ...options, "--", MCP_PYTHON, "-B", WRITER, w.room];

/** The filesystem server knows the handshake only; the writer knows the modern era, too. */
export const ERAS = [
  { era: "legacy", behind: files, tool: "write_file", args: target },
  { era: "auto", behind: files, tool: "write_file", args: target },
  { era: "modern", behind: writer, tool: "write", args: (_, name = "proof.txt") => ({ name, text: "yes" }) },
];

export const say = (era, what) => `inspector 2.12.0, ${era}: ${what}`;

/** One request through `holdpoint mcp …`: the exit code, the result that it printed, and what it said beside it. */
export async function inspect(t, w, era, request, args) {
  const options = ["--cli", "--format", "json", "--protocol-era", era, "--cwd", w.home];
  const environment = ["HOLDPOINT_TOKEN", "HOLDPOINT_SERVER"].flatMap((name) => ["-e", `${name}=${w.env[name]}`]);
  const words = [PROGRAM, ...options, ...environment, ...request, "--", HOLDPOINT_BIN, "mcp", ...args];
  const { code, out, err } = await run(t, w, newerNode(), words);
  const { result } = out ? JSON.parse(out) : {};
  return { code, result, said: out + err };
}

/** One request to an address of the server, with the program's token. */
export async function inspectHttp(t, w, era, request, path) {
  const options = ["--cli", "--format", "json", "--protocol-era", era, "--transport", "http", "--server-url", `${w.url}${path}`];
  const words = [PROGRAM, ...options, "--header", `Authorization: Bearer ${w.tokens.program_token}`, ...request];
  const { code, out, err } = await run(t, w, newerNode(), words);
  const { result } = out ? JSON.parse(out) : {};
  return { code, result, said: out + err };
}

export const listTools = ["--method", "tools/list"];
export const callTool = (name, args) => ["--method", "tools/call", "--tool-name", name, "--tool-args-json", JSON.stringify(args)];
