// The client that the client scenarios of the conformance suite start, with the address of their server as its last word: it stands
// before `holdpoint mcp proxy --url`, and calls every tool.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const { HOLDPOINT_BIN: command, ...env } = process.env;
const capabilities = { elicitation: { form: { applyDefaults: true } } };
const client = new Client({ name: "holdpoint-tests", version: "1.0.0" }, { capabilities });
client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: {} }));
await client.connect(new StdioClientTransport({ command, args: ["mcp", "proxy", "--name", "suite", "--url", process.argv.at(-1)], env }));
const { tools } = await client.listTools();
for (const { name } of tools) {
  await client.callTool({ name, arguments: name === "add_numbers" ? { a: 5, b: 3 } : {} });
}
await client.close();
