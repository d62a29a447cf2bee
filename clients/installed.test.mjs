// What one would publish, installed into an empty folder as a user would: the example that comes with each package runs from there.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { Server, fresh } from "./typescript/tests/server.mjs";

const { HOLDPOINT_PACKAGES: packages, HOLDPOINT_PYTHON: lockedPython } = process.env;
const run = promisify(execFile);

/** The one package with this ending. */
function packed(ending) {
  assert.ok(packages && lockedPython, "`cargo xtask test --only clients` says where the packages are");
  const found = readdirSync(packages).filter((name) => name.endsWith(ending) && name.includes("holdpoint-0.1.0"));
  assert.equal(found.length, 1, `${ending}: ${found}`);
  return join(packages, found[0]);
}

async function prepared(t) {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-installed-"));
  const server = await Server.start();
  t.after(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const { PATH } = process.env;
  // Nothing of this checkout is in reach: neither its sources nor what its tests installed.
  const env = { PATH, HOME: folder, HOLDPOINT_SERVER: server.url, HOLDPOINT_TOKEN: server.token, NO_PROXY: "127.0.0.1" };
  return { folder, server, env };
}

/** Runs the example twice: once with an amount that a person edited, and once denied. */
async function asks(server, program, words, options, { customer, titled, edited, refunded }) {
  const example = () => {
    const child = spawn(program, words, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (said += data));
    return once(child, "close").then(([code]) => ({ code, said }));
  };
  const opened = (ended) => Promise.race([server.person.opened(titled), ended.then(({ said }) => assert.fail(`it asked nobody: ${said}`))]);
  let ended = example();
  await server.person.approve(await opened(ended), { customer, amount: edited });
  assert.deepEqual(await ended, { code: 0, said: `${refunded}\n` });
  ended = example();
  await server.person.deny(await opened(ended), "not this customer");
  assert.deepEqual(await ended, { code: 0, said: "not refunded: not this customer\n" });
}

test("the npm archive, installed into an empty folder, runs its example", async (t) => {
  const { folder, server, env } = await prepared(t);
  await run("npm", ["init", "--yes"], { cwd: folder, env });
  // It has no dependency, so that nothing is fetched.
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", packed(".tgz")], { cwd: folder, env });
  assert.deepEqual(readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith(".")), ["holdpoint"]);
  const customer = fresh("customer");
  const words = ["node_modules/holdpoint/examples/refund.mjs", customer];
  await asks(server, process.execPath, words, { cwd: folder, env }, {
    customer,
    titled: `Refund 20 to ${customer}`,
    edited: 15.5,
    refunded: `refunded 15.5 to ${customer}`,
  });
});

test("the Python source archive, built and installed into an empty environment, runs its example", async (t) => {
  const { folder, server, env } = await prepared(t);
  const archive = packed(".tar.gz");
  await run(lockedPython, ["-m", "venv", "installed"], { cwd: folder, env });
  const python = join(folder, "installed/bin/python");
  // The locked dependencies and build tools are taken from where the tests installed them: pip judges whether they will do.
  const site = async (program) => (await run(program, ["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], { env })).stdout.trim();
  writeFileSync(join(await site(python), "locked.pth"), `${await site(lockedPython)}\n`);
  await run(python, ["-m", "pip", "install", "--no-index", "--no-build-isolation", archive], { cwd: folder, env });
  await run("tar", ["-xzf", archive], { cwd: folder, env });
  const where = await run(python, ["-c", "import holdpoint; print(holdpoint.__file__)"], { cwd: folder, env });
  assert.ok(where.stdout.startsWith(folder), where.stdout);
  const customer = fresh("customer");
  const words = ["-B", "holdpoint-0.1.0/examples/refund.py", "--customer", customer];
  await asks(server, python, words, { cwd: folder, env }, {
    customer,
    titled: `Refund 20.0 to ${customer}`,
    edited: 15.5,
    refunded: `refunded 15.5 to ${customer}`,
  });
});
