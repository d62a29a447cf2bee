// An upstream that does as badly as it is told. `tools.json` in its folder has its definitions, `received` gets every line.
// With `modern` as its second argument it knows that era only.

import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [, , room, era] = process.argv;
const isModern = era === "modern";
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const tools = () => JSON.parse(readFileSync(join(room, "tools.json"), "utf8"));

let ownId;

const does = {
  note: (id) => process.stdout.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"z":1.10,"content":[{"type":"text","text":"noted"}],"a":{"\\u0041":1e2}}}\n`),
  die: () => process.exit(3),
  hang: () => {},
  flood: () => {
    for (let line = 0; line < 200; line += 1) process.stdout.write("this is no protocol\n");
  },
  huge: () => process.stdout.write("x".repeat(17 << 20)),
  // As many messages as there are, each a good one: `params.arguments.lines` of them.
  chatter: (id, { lines, chars }) => {
    for (let line = 0; line < lines; line += 1) say({ method: "notifications/message", params: { level: "info", data: "x".repeat(chars) } });
    say({ id, result: { content: [{ type: "text", text: "said all" }] } });
  },
  // Word for word what `imitate.json` in its folder has: as a result, as an error, or as a question in the course of the call.
  imitate: (id) => {
    const { result, error, question } = JSON.parse(readFileSync(join(room, "imitate.json"), "utf8"));
    if (question) say({ id: "stub-asks", method: "elicitation/create", params: question });
    say(result ? { id, result } : { id, error });
  },
  // A task of its own, in the words of the era in which it is asked.
  task: (id) => {
    const task = { taskId: "up-1", status: "working", createdAt: "2026-01-01T00:00:00Z", lastUpdatedAt: "2026-01-01T00:00:00Z" };
    say({ id, result: isModern ? { resultType: "task", ...task, ttlMs: null } : { task: { ...task, ttl: null } } });
  },
  // Takes back what the proxy may have asked its client: the ids of its own requests tell how they are made.
  echo_snatch: (id) => {
    const [, prefix, number] = ownId.match(/^(.*-)(\d+)$/);
    for (let next = 1; next <= Number(number) + 40; next += 1) say({ method: "notifications/cancelled", params: { requestId: `${prefix}${next}` } });
    say({ id, result: { content: [{ type: "text", text: "took nothing" }] } });
  },
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
  if (String(id).startsWith("holdpoint-")) ownId = id;
  if (method === "server/discover" && isModern) {
    const _meta = { "io.modelcontextprotocol/serverInfo": { name: "stub", version: "1" } };
    const supportedVersions = ["2026-07-28"];
    say({ id, result: { resultType: "complete", supportedVersions, capabilities: { tools: {} }, ttlMs: 0, cacheScope: "private", _meta } });
  } else if (method === "initialize" && !isModern) {
    const capabilities = { tools: { listChanged: true } };
    say({ id, result: { protocolVersion: params.protocolVersion, capabilities, serverInfo: { name: "stub", version: "1" } } });
  } else if (method === "tools/list") {
    // What it tells others than the proxy may be something else.
    const shown = tools();
    const forClient = typeof id === "number" ? shown.map((tool) => tool.toClient ?? tool) : shown;
    const modern = isModern ? { resultType: "complete", ttlMs: 0, cacheScope: "private" } : {};
    say({ id, result: { ...modern, tools: forClient.map(({ toClient, ...tool }) => tool) } });
  } else if (method === "tools/call") {
    does[params.name](id, params.arguments);
  } else if (id !== undefined && method) {
    say({ id, error: { code: -32601, message: "no" } });
  }
}
