// The server's own door for MCP over HTTP, `/mcp`, and the official clients before it.

import { StreamableHTTPClientTransport as ModernHttp, Client as ModernClient } from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { fileURLToPath } from "node:url";
import { MCP_PYTHON } from "./world.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const FILES = here("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");
const EVERYTHING = here("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
const INFO = { name: "holdpoint-tests", version: "1.0.0" };

/** The configuration of a server that fronts three programs. */
export const fronted = (options = "") => (room) => `
[mcp]
${options}

[mcp.upstreams.files]
argv = [${JSON.stringify(process.execPath)}, ${JSON.stringify(FILES)}, ${JSON.stringify(room)}]

[mcp.upstreams.writer]
argv = [${JSON.stringify(MCP_PYTHON)}, "-B", ${JSON.stringify(here("upstream.py"))}, ${JSON.stringify(room)}]

[mcp.upstreams.all]
argv = [${JSON.stringify(process.execPath)}, ${JSON.stringify(EVERYTHING)}]
`;

async function connected(t, client, transport) {
  await client.connect(transport);
  t.after(() => client.close());
  return client;
}

const init = (token) => ({ requestInit: { headers: { authorization: `Bearer ${token}` } } });

export const legacyHttp = {
  name: "sdk 1.32.2 over HTTP",
  connect(t, w, path, { token = w.tokens.program_token, capabilities = {}, prepare = () => {} } = {}) {
    const client = new LegacyClient(INFO, { capabilities });
    prepare(client);
    return connected(t, client, new LegacyHttp(new URL(`${w.url}${path}`), init(token)));
  },
  call: (client, name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
};

export const modernHttp = {
  name: "client 2.4.0 over HTTP",
  connect(t, w, path, { token = w.tokens.program_token, capabilities = {}, prepare = () => {}, more = {} } = {}) {
    const client = new ModernClient(INFO, { capabilities, versionNegotiation: { mode: "auto" }, ...more });
    prepare(client);
    return connected(t, client, new ModernHttp(new URL(`${w.url}${path}`), init(token)));
  },
  call: (client, name, args, options) => client.callTool({ name, arguments: args }, options),
};

const VERSION = "2026-07-28";
let ids = 0;

/** A POST as a test wants it; what is not said is as it should be. */
export async function post(w, path, message, { token = w.tokens.program_token, headers = {}, body, signal } = {}) {
  return fetch(`${w.url}${path}`, {
    method: "POST",
    signal,
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: body ?? JSON.stringify({ jsonrpc: "2.0", ...message }),
  });
}

/** The last message of a reply, whether it is one or a stream. */
export async function last(reply) {
  const text = await reply.text();
  if (!reply.headers.get("content-type")?.startsWith("text/event-stream")) return text ? JSON.parse(text) : undefined;
  const data = [...text.matchAll(/^data: (.*)$/gm)].map(([, line]) => JSON.parse(line));
  return data.at(-1);
}

/** A modern request, with the headers that it needs. */
export function modernPost(w, path, method, params, { capabilities = {}, headers = {}, id = (ids += 1), ...options } = {}) {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientInfo": INFO,
    "io.modelcontextprotocol/clientCapabilities": capabilities,
  };
  const name = params.name ?? params.taskId ?? params.uri;
  const said = { "mcp-protocol-version": VERSION, "mcp-method": method, ...(name ? { "mcp-name": name } : {}), ...headers };
  return post(w, path, { id, method, params: { ...params, _meta } }, { headers: said, ...options });
}

/** A legacy session as a test wants it. */
export async function session(w, path, options = {}) {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: INFO };
  const hello = await post(w, path, { id: 0, method: "initialize", params }, options);
  const id = hello.headers.get("mcp-session-id");
  const answer = await last(hello);
  const headers = { "mcp-session-id": id, "mcp-protocol-version": "2025-11-25" };
  const send = (message, more = {}) => post(w, path, message, { ...options, ...more, headers: { ...headers, ...more.headers } });
  if (id) await send({ method: "notifications/initialized" });
  return { id, answer, headers, send };
}
