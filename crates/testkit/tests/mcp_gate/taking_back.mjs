// An upstream made with npm @modelcontextprotocol/sdk 1.32.2 that asks in the course of a call, and takes its question back when
// `take-back` is in its folder. `taken-back` is there when it did, `late` has what was answered all the same, and `cancelled` is there when
// it heard that nobody waits for the call any more.

import { appendFileSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import * as schemas from "@modelcontextprotocol/sdk/types.js";

const [, , room] = process.argv;
// The package does not end with its input, and a test that failed would leave this program behind.
process.stdin.on("close", () => process.exit());
const server = new Server({ name: "taking-back", version: "1.0" }, { capabilities: { tools: {} } });
const moment = () => new Promise((done) => setTimeout(done, 10));
const form = (message) => ({ message, requestedSchema: { type: "object", properties: { name: { type: "string" } } } });

const ask = {
  elicitation: (options) => server.elicitInput(form("Who?"), options),
  sampling: (options) => server.createMessage({ messages: [{ role: "user", content: { type: "text", text: "Who?" } }], maxTokens: 5 }, options),
  roots: (options) => server.listRoots(undefined, options),
};

async function askAndTakeBack(what) {
  // The package's client does not hear that its request 0 is cancelled.
  await server.ping();
  const stop = new AbortController();
  const answer = ask[what]({ signal: stop.signal }).then(
    () => "it was answered",
    () => "it was taken back",
  );
  const path = join(room, "take-back");
  for (let isTaken = false; !isTaken; await moment()) {
    isTaken = existsSync(path);
    if (isTaken) stop.abort("no need any more");
  }
  const ended = await answer;
  rmSync(path);
  writeFileSync(join(room, "taken-back"), "");
  return ended;
}

const inputSchema = { type: "object", properties: { what: { enum: Object.keys(ask) }, again: { type: "boolean" } } };
server.setRequestHandler(schemas.ListToolsRequestSchema, () => ({ tools: [{ name: "ask", description: "Asks.", inputSchema }] }));
server.setRequestHandler(schemas.CallToolRequestSchema, async ({ params: { arguments: { what, again } } }, { signal }) => {
  signal.addEventListener("abort", () => writeFileSync(join(room, "cancelled"), ""));
  let said = await askAndTakeBack(what);
  if (again) said += `, and ${(await server.elicitInput(form("And now?"))).content.name} said the rest`;
  return { content: [{ type: "text", text: said }] };
});
server.onerror = (error) => appendFileSync(join(room, "late"), `${error.message}\n`);
await server.connect(new StdioServerTransport());
