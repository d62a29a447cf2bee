// A project, a Holdpoint server and a fake model, for one agent at a time.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request as forward } from "node:http";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { HOLDPOINT_BIN, kill, person, serve, start } from "../real_server.mjs";
import { fakeGemini } from "./fake_gemini.mjs";

export const KEY = "fake-key";
export const MODEL = "fake-model";
const { FAKE_MODEL_BIN } = process.env;

const POLICY = `
[server]
listen = "127.0.0.1:0"

[store]
url = "sqlite:data"

[[people]]
id = "ana"
name = "Ana"
roles = ["admin"]

[policy]
default = "ask"
expires = "@EXPIRES@"
include = ["builtin:coding-agent"]

[[policy.rules]]
name = "one command passes"
match = { args = { "/input/command" = { equals = "echo allowed > allowed.txt" } } }
then = "allow"

[[policy.rules]]
name = "one command never runs"
match = { args = { "/input/command" = { equals = "echo forbidden > proof.txt" } } }
then = "deny"
`;

export const call = (name, input, id = "toolu_1") => ({ type: "call", name, input, id });
export const text = (text) => ({ type: "text", text });

/**
 * The fake takes what the vendors' public documents describe, and refuses the rest. Agents send more: system messages
 * in the middle of a conversation, and tools that are no functions. Those are taken out on the way.
 */
async function plainer(modelUrl) {
  const proxy = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    let body = Buffer.concat(chunks);
    if (request.method === "POST") {
      const said = JSON.parse(body.toString());
      if (said.messages) said.messages = said.messages.filter((message) => message.role !== "system");
      if (said.input) said.tools = said.tools?.filter((tool) => tool.type === "function");
      body = Buffer.from(JSON.stringify(said));
    }
    const headers = { ...request.headers, "content-length": String(body.length) };
    const onward = forward(`${modelUrl}${request.url}`, { method: request.method, headers }, (reply) => {
      response.writeHead(reply.statusCode, reply.headers);
      reply.pipe(response);
    });
    onward.on("error", () => response.destroy());
    onward.end(request.method === "GET" || request.method === "HEAD" ? undefined : body);
  });
  await new Promise((done) => proxy.listen(0, "127.0.0.1", done));
  return proxy;
}

/** Everything for one test. `t.after` ends it. `expires`: how long the policy lets a question wait. */
export async function world(t, { expires = "24h" } = {}) {
  const policy = POLICY.replace("@EXPIRES@", expires);
  assert.ok(HOLDPOINT_BIN && FAKE_MODEL_BIN, "`cargo xtask test --only agents` says where the programs are");
  const home = mkdtempSync(join(tmpdir(), "holdpoint-agents-"));
  const project = join(home, "project");
  mkdirSync(join(project, ".git"), { recursive: true });
  writeFileSync(join(home, "holdpoint.toml"), policy);
  let { server, url } = await serve(home, ["--bootstrap-tokens", "tokens.json"]);
  const tokens = JSON.parse(readFileSync(join(home, "tokens.json"), "utf8"));
  const model = start(FAKE_MODEL_BIN, [], { stdio: ["ignore", "pipe", "inherit"] });
  const [fakeUrl] = await once(createInterface({ input: model.stdout }), "line");
  const proxy = await plainer(fakeUrl);
  const modelUrl = `http://127.0.0.1:${proxy.address().port}`;
  const gemini = await fakeGemini();
  const w = {
    ...person(url, tokens.person_token),
    home,
    project,
    url,
    modelUrl,
    geminiUrl: gemini.url,
    tokens,
    env: { PATH: process.env.PATH, HOME: home, LANG: "C.UTF-8", HOLDPOINT_TOKEN: tokens.program_token },
    read: (name) => readFileSync(join(project, name), "utf8"),
    has: (name) => existsSync(join(project, name)),
    async play(...turns) {
      const body = JSON.stringify({ key: KEY, models: [MODEL], turns });
      const reply = await fetch(`${fakeUrl}/fake/script`, { method: "POST", body });
      assert.equal(reply.status, 200, await reply.text());
      Object.assign(gemini, { turns, requests: [] });
    },
    async heard() {
      const requests = await (await fetch(`${fakeUrl}/fake/requests`)).json();
      return JSON.stringify([requests, gemini.requests]);
    },
    killServer: () => kill(server),
    /** At the address where it was, with everything that it had on disk. */
    async restartServer() {
      writeFileSync(join(home, "holdpoint.toml"), policy.replace("127.0.0.1:0", new URL(url).host));
      ({ server } = await serve(home, []));
    },
    /** Our hook itself, as an agent runs it. */
    async hook(agent, call, { wait = 20, server: at = url } = {}) {
      const options = { cwd: project, env: w.env, stdio: ["pipe", "pipe", "pipe"], input: JSON.stringify(call) };
      const out = await run(HOLDPOINT_BIN, ["hook", agent, "--server", at, "--wait", `${wait}s`], options);
      const said = out.out ? JSON.parse(out.out).hookSpecificOutput : undefined;
      return { ...out, decision: said?.permissionDecision, reason: said?.permissionDecisionReason };
    },
    /** What the rules say to a shell command: `allow`, `ask` or `deny`. */
    async rule(command) {
      const args = ["hook", "test", "claude", "--server", url, "--command", command, "--json"];
      const out = await run(HOLDPOINT_BIN, args, { cwd: project, env: w.env });
      assert.equal(out.code, 0, out.err);
      return JSON.parse(out.out).decision;
    },
    /** Writes the agent's settings as a user would. `changed` is what else a test does to them. */
    async install(agent, file, { wait = 30, defer = false, http = false, project: inProject = false, changed, server: at = url } = {}) {
      const place = inProject ? "--project" : "--user";
      const args = ["hook", "install", agent, place, "--yes", "--server", at, "--wait", `${wait}s`];
      const out = await run(HOLDPOINT_BIN, [...args, ...(defer ? ["--defer"] : []), ...(http ? ["--http"] : [])], { cwd: project, env: w.env });
      assert.equal(out.code, 0, out.err);
      if (changed) writeFileSync(file, changed(readFileSync(file, "utf8")));
    },
    async uninstall(agent) {
      const out = await run(HOLDPOINT_BIN, ["hook", "uninstall", agent, "--user", "--yes"], { cwd: project, env: w.env });
      assert.equal(out.code, 0, out.err);
    },
  };
  t.after(() => {
    server.kill("SIGKILL");
    model.kill("SIGKILL");
    proxy.closeAllConnections();
    proxy.close();
    gemini.close();
    rmSync(home, { recursive: true, force: true });
  });
  return w;
}

/** Runs a program to its end. */
export async function run(program, args, options) {
  const child = start(program, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
  child.stdin?.end(options.input);
  let [out, err] = ["", ""];
  child.stdout.on("data", (data) => (out += data));
  child.stderr.on("data", (data) => (err += data));
  const [code] = await once(child, "close");
  return { code, out, err };
}

export const PROOF = "echo yes > proof.txt";

/** The model calls the tool, hears the result, and says a last word. */
export async function prepared(t, agent, block, options) {
  const w = await world(t, options);
  await w.play({ when: { results: 0 }, say: [block] }, { say: [text("It said: {result}")] });
  await agent.setUp(w, options);
  return w;
}
