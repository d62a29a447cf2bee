// MCP servers over HTTP, each on a port of its own.

import { fileURLToPath } from "node:url";
import { createInterface } from "node:readline";
import { createServer } from "node:net";
import { MCP_PYTHON, start } from "./world.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const EVERYTHING = here("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
const WRITER = here("upstream.py");

async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

/** Waits for the line with which a program says that it listens. */
async function listening(t, child, says) {
  t.after(() => child.kill("SIGKILL"));
  for await (const line of createInterface({ input: child.stderr })) if (says.test(line)) break;
  child.stderr.resume();
}

/** npm @modelcontextprotocol/server-everything, with a handshake. */
export async function everythingService(t) {
  const port = await freePort();
  const child = start(process.execPath, [EVERYTHING, "streamableHttp"], {
    env: { PATH: process.env.PATH, PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  await listening(t, child, /listening|running|started/i);
  return `http://127.0.0.1:${port}/mcp`;
}

/** PyPI mcp, of both eras. Its tools write into `room`. */
export async function writerService(t, room) {
  const port = await freePort();
  const child = start(MCP_PYTHON, ["-B", WRITER, room, String(port)], { stdio: ["ignore", "ignore", "pipe"] });
  await listening(t, child, /running on/i);
  return `http://127.0.0.1:${port}/mcp`;
}
