// Stands before a program of both eras, and refuses the handshake, as one that only speaks 2026-07-28 does. All else is the program's.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const [program, ...args] = process.argv.slice(2);
const server = spawn(program, args, { stdio: ["pipe", "inherit", "inherit"] });
server.on("exit", (code) => process.exit(code ?? 1));
createInterface({ input: process.stdin })
  .on("line", (line) => {
    const message = JSON.parse(line);
    const version = message.params?._meta?.["io.modelcontextprotocol/protocolVersion"];
    if (version === "2026-07-28" || message.method === "notifications/cancelled" || message.method === undefined) return void server.stdin.write(`${line}\n`);
    if (message.id === undefined) return process.exit(4);
    const error = { code: -32022, message: "unsupported", data: { supported: ["2026-07-28"], requested: message.params?.protocolVersion } };
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: message.id, error })}\n`);
  })
  .on("close", () => server.stdin.end());
