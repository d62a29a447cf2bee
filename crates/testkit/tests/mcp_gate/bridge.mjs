// Lets a client that only speaks HTTP speak with a program on pipes: one process for each session, and nothing of what is said is read.
// Both transports are those of the official package.

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";

/** The address at which `program` ({ command, args, env, cwd }) is an MCP server over HTTP. */
export async function bridge(t, program) {
  const sessions = new Map();

  async function session() {
    const pipe = new StdioClientTransport({ ...program, stderr: "ignore" });
    const open = new Set();
    const http = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, http),
    });
    http.onmessage = (message) => {
      if (message.method && message.id !== undefined) open.add(message.id);
      pipe.send(message);
    };
    pipe.onmessage = (message) => {
      if (!message.method) open.delete(message.id);
      // What is said while requests are open goes where the latest of them is answered.
      http.send(message, message.method ? { relatedRequestId: [...open].at(-1) } : undefined);
    };
    await http.start();
    await pipe.start();
    t.after(() => pipe.close());
    return http;
  }

  const server = createServer(async (request, response) => {
    const known = sessions.get(request.headers["mcp-session-id"]);
    await (known ?? (await session())).handleRequest(request, response);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}/mcp`;
}
