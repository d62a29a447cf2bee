// The official client that asks for the modern era, before the filesystem server, and the official Python client.

import assert from "node:assert/strict";
import { test } from "node:test";
import { modern } from "./clients.mjs";
import { files, proxyCases, target } from "./proxy_cases.mjs";
import { python } from "./python.mjs";
import { world } from "./world.mjs";

proxyCases(modern);

test("mcp 2.3.0: a file is written after approval", async (t) => {
  const w = await world(t);
  const calling = python(t, w, files(w), [["write_file", target(w)]]);
  await w.hold();
  assert.ok(!w.has("proof.txt"));
  await w.approve();
  const { results } = await calling;
  assert.ok(w.has("proof.txt") && !results[0].is_error, JSON.stringify(results));
});
