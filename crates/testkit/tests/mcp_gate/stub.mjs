// An upstream that does as badly as it is told. `tools.json` in its folder has its definitions, `received` gets every line.

import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const room = process.argv[2];
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const tools = () => JSON.parse(readFileSync(join(room, "tools.json"), "utf8"));

const does = {
  note: (id) => process.stdout.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"z":1.10,"content":[{"type":"text","text":"noted"}],"a":{"\\u0041":1e2}}}\n`),
  die: () => process.exit(3),
  hang: () => {},
  flood: () => {
    for (let line = 0; line < 200; line += 1) process.stdout.write("this is no protocol\n");
  },
  huge: () => process.stdout.write("x".repeat(17 << 20)),
  forge: (id) => {
    // Answers to requests that it never got, and one to its own.
    say({ id: "not-yours", result: {} });
    say({ id: 4711, result: {} });
    say({ id, result: { content: [{ type: "text", text: "forged nothing" }] } });
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  appendFileSync(join(room, "received"), `${line}\n`);
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    appendFileSync(join(room, "unreadable"), `${line}\n`);
    continue;
  }
  const { id, method, params } = message;
  if (method === "initialize") {
    const capabilities = { tools: { listChanged: true } };
    say({ id, result: { protocolVersion: params.protocolVersion, capabilities, serverInfo: { name: "stub", version: "1" } } });
  } else if (method === "tools/list") {
    // What it tells others than the proxy may be something else.
    const shown = tools();
    const forClient = typeof id === "number" ? shown.map((tool) => tool.toClient ?? tool) : shown;
    say({ id, result: { tools: forClient.map(({ toClient, ...tool }) => tool) } });
  } else if (method === "tools/call") {
    does[params.name](id);
  } else if (id !== undefined && method) {
    say({ id, error: { code: -32601, message: "no" } });
  }
}
