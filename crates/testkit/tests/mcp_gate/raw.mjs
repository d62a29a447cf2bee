// A client that writes lines as a test wants them, and gives back lines.

import { once } from "node:events";
import { createInterface } from "node:readline";
import { HOLDPOINT_BIN, start } from "./world.mjs";

export function raw(t, w, args, env) {
  const child = start(HOLDPOINT_BIN, ["mcp", ...args], { cwd: w.home, env: { ...w.env, ...env }, stdio: ["pipe", "pipe", "pipe"] });
  t.after(() => child.kill("SIGKILL"));
  const waiting = new Map();
  const others = [];
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line);
    const key = message.method ? undefined : JSON.stringify(message.id);
    const waits = waiting.get(key);
    waiting.delete(key);
    if (waits) waits({ line, ...message });
    else others.push({ line, ...message });
  });
  const client = {
    child,
    others,
    send: (line) => child.stdin.write(`${line}\n`),
    /** The answer to a line, by the id that it has. */
    answer: (id) => new Promise((done) => waiting.set(JSON.stringify(id), done)),
    ask(line, id = JSON.parse(line).id) {
      const answer = client.answer(id);
      client.send(line);
      return answer;
    },
    request: (id, method, params = {}) => client.ask(JSON.stringify({ jsonrpc: "2.0", id, method, params })),
    async hello() {
      const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } };
      await client.request(0, "initialize", params);
      client.send(JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }));
    },
    async end() {
      child.stdin.end();
      const [code] = await once(child, "close");
      return code;
    },
  };
  return client;
}

/** What a modern request says about itself. */
export const modernMeta = (capabilities = {}) => ({
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": capabilities,
});
