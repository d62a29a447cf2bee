// npm @modelcontextprotocol/conformance 0.1.16: a suite of its server scenarios, and the count for each.

import assert from "node:assert/strict";
import { newerNode, partner, run } from "./partner.mjs";

export const SUITE = partner("@modelcontextprotocol/conformance/dist/index.js");

/** How many checks passed and failed, for each scenario but those of `others`. */
export async function scenarios(t, w, url, suite, others) {
  const { out, err } = await run(t, w, newerNode(), [SUITE, "server", "--url", url, "--suite", suite]);
  const counted = [...out.matchAll(/^. ([a-z0-9-]+): (\d+) passed, (\d+) failed$/gm)];
  assert.ok(counted.length > 0, out + err);
  return new Map(counted.filter(([, name]) => !others.includes(name)).map(([, name, passed, failed]) => [name, [Number(passed), Number(failed)]]));
}
