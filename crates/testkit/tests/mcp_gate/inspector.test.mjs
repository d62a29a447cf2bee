// The Inspector's command line before `holdpoint mcp proxy`, in each of the eras that it can be told.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { text } from "./clients.mjs";
import { callTool, inspect, listTools } from "./inspector.mjs";
import { files, target } from "./proxy_cases.mjs";
import { MCP_PYTHON, world } from "./world.mjs";

const WRITER = fileURLToPath(new URL("upstream.py", import.meta.url));
const writer = (w) => ["proxy", "--name", "writer", "--", MCP_PYTHON, "-B", WRITER, w.room];

/** The filesystem server knows the handshake only; the writer knows the modern era, too. */
const ERAS = [
  { era: "legacy", behind: files, tool: "write_file", args: target },
  { era: "auto", behind: files, tool: "write_file", args: target },
  { era: "modern", behind: writer, tool: "write", args: (_, name = "proof.txt") => ({ name, text: "yes" }) },
];

const say = (era, what) => `inspector 2.12.0, ${era}: ${what}`;

for (const { era, behind, tool } of ERAS) {
  test(say(era, "it lists the tools, and calls what a rule allows"), async (t) => {
    const w = await world(t);
    const listed = await inspect(t, w, era, listTools, behind(w));
    assert.equal(listed.code, 0, listed.said);
    assert.ok(listed.result.tools.some(({ name }) => name === tool), listed.said);
    writeFileSync(join(w.room, "seen.txt"), "");
    const allowed = await inspect(t, w, era, callTool("list_directory", { path: w.room }), behind(w));
    assert.equal(allowed.code, 0, allowed.said);
    assert.match(text(allowed.result), /seen\.txt/);
    assert.equal((await w.pending()).length, 0);
  });
}

for (const { era, behind, tool, args } of ERAS) {
  test(say(era, "a file is written only after approval, and a denial is read out"), async (t) => {
    const w = await world(t);
    const calling = inspect(t, w, era, callTool(tool, args(w)), behind(w));
    const hold = await w.hold();
    assert.ok(!w.has("proof.txt"), "it waits");
    assert.deepEqual(hold.call.arguments, args(w));
    await w.approve();
    const approved = await calling;
    assert.equal(approved.code, 0, approved.said);
    assert.ok(!approved.result.isError && w.has("proof.txt"), approved.said);

    const refused = inspect(t, w, era, callTool(tool, args(w, "denied.txt")), behind(w));
    await w.answer({ verdict: "deny", reason: "not on a Friday" });
    const denied = await refused;
    assert.equal(denied.result?.isError, true, denied.said);
    assert.match(text(denied.result), /not on a Friday/);
    assert.ok(!w.has("denied.txt"));
  });
}
