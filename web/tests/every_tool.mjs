// A server with every built-in kind of tool and an MCP server, and a scripted agent that calls each of them once.

import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, launch, lineWith, serveFrom, stopped, until } from "./harness.mjs";

/** What each scenario says, and what of its call must be in plain sight: verb, amount and target. */
export const CALLS = {
  "delete rows": { tool: "sql_modify", arguments: { sql: "DELETE FROM orders\nWHERE status = 1 AND total_cents < 20000" }, verb: /^Delete \d+ rows?$/, shown: ["orders", "shop-prod"] },
  "drop the table": { tool: "sql_modify", arguments: { sql: "DROP TABLE old_orders" }, verb: /^Drop a table$/, shown: ["shop-prod"] },
  "read rows": { tool: "sql_query", arguments: { sql: "SELECT * FROM orders LIMIT 10" }, verb: /^Read from a database$/, shown: ["shop-prod"] },
  "open a ticket": { tool: "open_ticket", arguments: { project: "shop", title: "Refund order 7" }, verb: /^Send a POST request$/, shown: ["127.0.0.1", "/v1/shop/tickets"] },
  "clean up": { tool: "shell_cmd", arguments: { command: "rm -rf build && git push --force" }, verb: /^Run 2 shell commands$/, shown: ["deletes", "publishes"] },
  "list files": { tool: "shell_cmd", arguments: { argv: ["ls", "-l"] }, verb: /^Run 1 command$/, shown: ["ls"] },
  "restart it": { tool: "restart", arguments: { unit: "web", wait_s: 5 }, verb: /^Run 1 command$/, shown: ["cat"] },
  "where am I": { tool: "browser_location", arguments: { accuracy: "exact" }, verb: /^Do this yourself$/, shown: ["browser_location", 'accuracy: "exact"'] },
  "ask a person": { tool: "ask_person", arguments: { prompt: "Which region should the backup go to?", options: ["Europe", "Asia"] }, verb: /^Choose one of 2$/, shown: ["Which region should the backup go to?"] },
  "pay the bill": { tool: "office__create_payment", arguments: { amount: 1840, currency: "EUR", to: "Acme Parts", memo: "Invoice 2026-118, paid in full after the goods have arrived and were counted." }, verb: /^Call a tool, effect unknown$/, shown: ["office__create_payment", "amount=1840", "currency=EUR", "to=Acme Parts"] },
  "edit the file": { tool: "office__edit_file", arguments: { path: "config/payments.toml", edits: [{ oldText: "timeout_s = 30\nretry = false", newText: "timeout_s = 5\nretry = true\nretry_max = 10" }] }, verb: /^Change 1 file/, shown: ["config/payments.toml"] },
  "send a message": { tool: "office__send_message", arguments: { channel: "#ops", text: "The nightly backup has failed twice; somebody should look at it before tonight." }, verb: /^Call a tool, effect unknown$/, shown: ["office__send_message", "channel=#ops"] },
};

const CONFIG = (port, api) => `
[server]
listen = "127.0.0.1:${port}"
[store]
url = "sqlite:data"
[models.script]
provider = "scripted"
script = "script.toml"
[[agents]]
id = "billing-agent"
model = "script"
instructions = "Help."
tools = ["sql_query", "sql_modify", "open_ticket", "shell_cmd", "restart", "browser_location", "ask_person", "office"]
[[tools]]
name = "sql_query"
kind = "sql"
database = "shop-prod.db"
access = "query"
[[tools]]
name = "sql_modify"
kind = "sql"
database = "shop-prod.db"
access = "modify"
allow_ddl = true
[[tools]]
name = "open_ticket"
kind = "http"
description = "Opens a ticket."
method = "POST"
url = "http://127.0.0.1:${api}/v1/{project}/tickets"
body = { title = "{title}" }
allow_private_addresses = true
[tools.input_schema]
type = "object"
required = ["project", "title"]
[tools.input_schema.properties]
project = { type = "string", pattern = "^[a-z0-9-]+$" }
title = { type = "string" }
[[tools]]
name = "shell_cmd"
kind = "shell_cmd"
roots = ["."]
env = ["PATH"]
allow_shell = true
[[tools]]
name = "restart"
kind = "command"
description = "Restarts a unit."
argv = ["cat"]
input_schema = { type = "object", required = ["unit"], properties = { unit = { type = "string" }, how = { enum = ["now", "gently", "twice"], description = "How it is restarted." }, wait_s = { type = "integer" } } }
[[tools]]
name = "browser_location"
kind = "client"
description = "Where the user's browser is."
input_schema = { type = "object", properties = { accuracy = { enum = ["city", "exact"] } } }
[[tools]]
name = "ask_person"
kind = "human"
asks = "anything"
[[tools]]
name = "office"
kind = "mcp"
argv = ["${process.execPath}", "${new URL("mcp_server.mjs", import.meta.url).pathname}"]
[policy]
default = "ask"
[[policy.rules]]
name = "dropping a table is critical"
then = "ask"
risk = "critical"
[policy.rules.match]
tool = "sql_modify"
[policy.rules.match.sql]
kind = ["ddl"]
[[policy.rules]]
name = "changes to orders need a DBA"
then = "ask"
risk = "high"
match = { tool = "sql_modify" }
[policy.rules.ask]
roles = ["dba"]
[[people]]
id = "ana"
name = "Ana Ruiz"
roles = ["admin", "dba"]
`;

function toml(value) {
  if (Array.isArray(value)) return `[${value.map(toml).join(", ")}]`;
  if (value !== null && typeof value === "object") return `{ ${Object.entries(value).map(([key, one]) => `${JSON.stringify(key)} = ${toml(one)}`).join(", ")} }`;
  return JSON.stringify(value);
}

const REASON = "The shop needs this. I have looked at it twice, and it is the right thing to do.";

const script = (calls) =>
  Object.entries(calls)
    .map(([says, call]) => {
      return `[[turn]]\nwhen = { says = ${JSON.stringify(says)} }\ntext = ${JSON.stringify(call.text ?? REASON)}\ncalls = [{ tool = ${JSON.stringify(call.tool)}, arguments = ${toml(call.arguments)} }]\n[[turn]]\nwhen = { says = ${JSON.stringify(says)}, result_of = ${JSON.stringify(call.tool)} }\ntext = "I was told: {result}"\n`;
    })
    .join("\n");

/** `calls`: further ones, by what is said; `text` is what the model says of its call. */
export async function openEveryTool({ calls = {} } = {}) {
  const folder = await mkdtemp(join(tmpdir(), "holdpoint-tools-"));
  const api = createServer((request, reply) => reply.end("{}")).listen(0, "127.0.0.1");
  await new Promise((done) => api.once("listening", done));
  await writeFile(join(folder, "holdpoint.toml"), CONFIG(await freePort(), api.address().port));
  await writeFile(join(folder, "script.toml"), script({ ...CALLS, ...calls }));
  await makeShop(folder);
  const server = spawn(process.env.HOLDPOINT_BIN, ["serve"], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  const browser = await launch();
  const close = async () => {
    await browser.close();
    await stopped(server);
    api.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const link = await lineWith(server, /http\S+\/login\?code=\w+/);
    const context = await browser.newContext({ locale: "en-US" });
    if (process.env.HOLDPOINT_DIST) await serveFrom(process.env.HOLDPOINT_DIST, context);
    const page = await context.newPage();
    await page.goto(link);
    await page.click("button");
    await page.waitForSelector(".shell");
    return { browser, page, url: (path) => new URL(path, link).href, storage: await context.storageState(), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function makeShop(folder) {
  const { execFileSync } = await import("node:child_process");
  const rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO orders SELECT i, 'customer-' || i, CASE WHEN i <= 214 THEN 1 ELSE 2 END, 500 FROM n;";
  execFileSync("sqlite3", [join(folder, "shop-prod.db"), `CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT, status INTEGER, total_cents INTEGER); CREATE TABLE old_orders (id INTEGER); ${rows}`]);
}

/** A request as the page makes it, with its login. */
export function asPage(page, method, path, body) {
  return page.evaluate(
    async ([method, path, body]) => {
      const me = await (await fetch("/v1/me")).json();
      const headers = { "X-Holdpoint-CSRF": me.csrf, "Idempotency-Key": crypto.randomUUID(), "Content-Type": "application/json" };
      const reply = await fetch(path, { method, headers: method === "GET" ? {} : headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
      if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
      return reply.json();
    },
    [method, path, body],
  );
}

/** Says a scenario, and waits for its hold. */
export async function holdFor(world, says) {
  const session = await asPage(world.page, "POST", "/v1/sessions", { agent: "billing-agent", title: says });
  await asPage(world.page, "POST", `/v1/sessions/${session.id}/messages`, { text: says });
  return until(`a hold for "${says}"`, async () => (await asPage(world.page, "GET", "/v1/holds?state=pending&limit=100")).items.find((one) => one.session === session.id));
}
