// A small MCP server over stdio, for tests: three tools that people would want to be asked about.

import { createInterface } from "node:readline";

const text = { type: "string" };
const tools = [
  { name: "create_payment", description: "Pays somebody.", inputSchema: { type: "object", required: ["amount", "currency", "to"], properties: { amount: { type: "number" }, currency: text, to: text, memo: text } } },
  {
    name: "edit_file",
    description: "Changes a file.",
    inputSchema: { type: "object", required: ["path", "edits"], properties: { path: text, edits: { type: "array", items: { type: "object", properties: { oldText: text, newText: text } } } } },
  },
  { name: "send_message", description: "Sends a message.", inputSchema: { type: "object", required: ["channel", "text"], properties: { channel: text, text } } },
];

const reply = (id, result) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") reply(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "office", version: "1.0" } });
  else if (method === "tools/list") reply(id, { tools });
  else if (method === "tools/call") reply(id, { content: [{ type: "text", text: "done" }] });
  else if (id !== undefined) reply(id, {});
});
