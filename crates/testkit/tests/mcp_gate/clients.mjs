// The official clients of both eras, each behind the same three functions.

import { Client as ModernClient } from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernPipe } from "@modelcontextprotocol/client/stdio";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as LegacyPipe } from "@modelcontextprotocol/sdk/client/stdio.js";
import { HOLDPOINT_BIN } from "./world.mjs";

const INFO = { name: "holdpoint-tests", version: "1.0.0" };

/** `holdpoint mcp …`, as a client starts it. */
function command(w, args, env) {
  return { command: HOLDPOINT_BIN, args: ["mcp", ...args], env: { ...w.env, ...env }, cwd: w.home, stderr: "pipe" };
}

async function connected(t, client, pipe) {
  const said = [];
  await client.connect(pipe);
  pipe.stderr?.on("data", (data) => said.push(String(data)));
  t.after(() => client.close());
  return Object.assign(client, { said, pipe });
}

/** npm @modelcontextprotocol/sdk 1.32.2: with a handshake. */
export const legacy = {
  name: "sdk 1.32.2",
  connect(t, w, args, { capabilities = {}, env, prepare = () => {} } = {}) {
    const client = new LegacyClient(INFO, { capabilities });
    prepare(client);
    return connected(t, client, new LegacyPipe(command(w, args, env)));
  },
  call: (client, name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
};

/** npm @modelcontextprotocol/client 2.4.0: asks for the modern era, and takes what it gets. */
export const modern = {
  name: "client 2.4.0",
  connect(t, w, args, { capabilities = {}, env, prepare = () => {}, more = {} } = {}) {
    const client = new ModernClient(INFO, { capabilities, versionNegotiation: { mode: "auto" }, ...more });
    prepare(client);
    return connected(t, client, new ModernPipe(command(w, args, env)));
  },
  call: (client, name, args, options) => client.callTool({ name, arguments: args }, options),
};

export const text = (result) => result.content.map((block) => block.text).join("\n");
