// The real program with its doors open, in a folder of its own, and what its tools did.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync, existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const BINARY = process.env.HOLDPOINT_BIN ?? new URL("../../../../target/debug/holdpoint", import.meta.url).pathname;

const CONFIG = `
[server]
listen = "127.0.0.1:0"

[store]
url = "sqlite:data"

[models.script]
provider = "scripted"
script = "script.toml"

[[agents]]
id = "clerk"
model = "script"
tools = ["send_email", "boom", "hurry", "both", "look", "browser_location", "human_intervention.request", "deployToShipperCloud", "release"]

[[tools]]
name = "send_email"
kind = "command"
description = "Sends a mail."
argv = ["/bin/sh", "-c", "cat >> mails.txt; echo >> mails.txt; echo sent"]
input_schema = { type = "object" }

[[tools]]
name = "boom"
kind = "command"
description = "Fails."
argv = ["/bin/sh", "-c", "cat > /dev/null; echo it broke; exit 3"]
input_schema = { type = "object" }

[[tools]]
name = "hurry"
kind = "command"
description = "Nobody has time to approve it."
argv = ["/bin/sh", "-c", "cat > /dev/null; echo hurried >> mails.txt"]
input_schema = { type = "object" }

[[tools]]
name = "both"
kind = "command"
description = "Two must agree."
argv = ["/bin/sh", "-c", "cat > /dev/null; echo both >> mails.txt; echo agreed"]
input_schema = { type = "object" }

[[tools]]
name = "look"
kind = "command"
description = "Reads."
effects = "read_only"
argv = ["/bin/sh", "-c", "cat > /dev/null; echo '{\\"seen\\":7}'"]
input_schema = { type = "object" }

[[tools]]
name = "browser_location"
kind = "client"
description = "Where the person is."
input_schema = { type = "object" }

[[tools]]
name = "human_intervention.request"
kind = "human"

[[tools]]
name = "deployToShipperCloud"
kind = "command"
description = "Deploys."
argv = ["/bin/sh", "-c", "cat >> mails.txt; echo >> mails.txt; echo '{\\"url\\":\\"https://my-app.example\\"}'"]
input_schema = { type = "object" }

[[tools]]
name = "release"
kind = "command"
description = "Releases, in two phases."
confirm = "two_phase"
approve_text = "Yes, please proceed with releasing \\"{projectName}\\"."
deny_text = "No, I don't want to release right now."
argv = ["/bin/sh", "-c", "cat >> mails.txt; echo >> mails.txt; echo '{\\"version\\":\\"1.2\\"}'"]
input_schema = { type = "object", properties = { projectName = { type = "string" } } }

[[policy.rules]]
name = "reading is fine"
match = { tool = "look" }
then = "allow"

[[policy.rules]]
name = "in a hurry"
match = { tool = "hurry" }
then = "ask"
ask = { roles = ["admin"], expires = "2s" }

[[policy.rules]]
name = "two of them"
match = { tool = "both" }
then = "ask"
ask = { roles = ["admin", "dba"], quorum = 2 }

[[people]]
id = "ana"
name = "Ana"
roles = ["admin"]

[[people]]
id = "bob"
name = "Bob"
roles = ["dba"]

[doors.ai_sdk]
enabled = true
`;

const SCRIPT = `
default = "I do not know that."

[[turn]]
when = { says = "send both mails" }
text = "Two mails, then."
calls = [{ tool = "send_email", arguments = { to = "a@b.c" } }, { tool = "send_email", arguments = { to = "d@e.f" } }]

[[turn]]
when = { says = "send one mail" }
reasoning = "A mail is wanted."
text = "One mail."
deltas = { words = 1, delay_ms = 1 }
calls = [{ tool = "send_email", arguments = { to = "a@b.c", text = "Grüße <b>&amp;\\n" } }]

[[turn]]
when = { says = "break it" }
calls = [{ tool = "boom" }]

[[turn]]
when = { says = "hurry" }
calls = [{ tool = "hurry" }]

[[turn]]
when = { says = "both of you" }
calls = [{ tool = "both" }]

[[turn]]
when = { says = "look and send" }
calls = [{ tool = "look" }, { tool = "send_email", arguments = { to = "g@h.i" } }]

[[turn]]
when = { says = "where am I" }
calls = [{ tool = "browser_location", arguments = { accuracy = "city" } }]

[[turn]]
when = { says = "which strategy" }

[[turn.calls]]
tool = "human_intervention.request"

[turn.calls.arguments]
prompt = "Which strategy?"
options = ["Blue-Green", "Canary"]

[[turn]]
when = { says = "deploy it" }
calls = [{ tool = "deployToShipperCloud", arguments = { projectName = "my-app", reason = "Store user data" } }]

[[turn]]
when = { says_regex = '^release (\\S+)$' }
text = "I ask first."
calls = [{ tool = "release", arguments = { projectName = "{1}" } }]

[[turn]]
when = { says_regex = '^The person approved release' }
calls = [{ tool = "release", arguments = { projectName = "my-app", confirmed = true } }]

[[turn]]
when = { says_regex = '^The person denied release' }
text = "Not released, then."

[[turn]]
when = { says = "fail once" }
fail = "refused"
times = 1

[[turn]]
when = { says = "fail once" }
text = "Now it worked."

[[turn]]
when = { result_regex = "[^\\u0000]*", after_tools = ["release"] }
text = "Status: {result.status}"

[[turn]]
when = { result_regex = "[^\\u0000]*" }
text = "Result: {result}"
deltas = { words = 1, delay_ms = 1 }
`;

/** Starts the program. `door` is added to the settings of the door. */
export async function start(door = "") {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-doors-"));
  writeFileSync(join(folder, "holdpoint.toml"), CONFIG + door);
  writeFileSync(join(folder, "script.toml"), SCRIPT);
  const world = new World(folder);
  await world.up();
  return world;
}

class World {
  constructor(folder) {
    this.folder = folder;
  }

  async up() {
    const tokens = join(this.folder, "tokens.json");
    const args = ["serve", "--config", join(this.folder, "holdpoint.toml"), "--bootstrap-tokens", tokens];
    this.child = spawn(BINARY, args, { cwd: this.folder, stdio: ["ignore", "pipe", "pipe"] });
    let log = "";
    this.child.stderr.on("data", (chunk) => (log += chunk));
    const lines = createInterface({ input: this.child.stdout });
    this.url = await new Promise((resolve, reject) => {
      lines.on("line", (line) => {
        const listening = /^holdpoint is listening on (\S+)$/.exec(line);
        if (listening) resolve(listening[1]);
      });
      this.child.on("exit", (code) => reject(new Error(`the program ended with ${code}: ${log}`)));
    });
    this.ana = JSON.parse(readFileSync(tokens, "utf8")).person_token;
    this.bob ??= (await this.api("POST", "/v1/tokens", { person: "bob", scopes: ["ask", "answer", "run"] })).token;
  }

  async down(signal = "SIGTERM") {
    const gone = new Promise((resolve) => this.child.once("exit", resolve));
    this.child.kill(signal);
    await gone;
  }

  async stop() {
    await this.down();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Our own API, as Ana unless said otherwise. */
  async api(method, path, body, token = this.ana) {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const reply = await fetch(this.url + path, { method, headers, body: body && JSON.stringify(body) });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
    return text ? JSON.parse(text) : null;
  }

  async pending() {
    return (await this.api("GET", "/v1/holds?state=pending")).items;
  }

  async answer(hold, answer, token = this.ana) {
    const { digest } = await this.api("GET", `/v1/holds/${hold}`, undefined, token);
    return this.api("POST", `/v1/holds/${hold}/answer`, { digest, answer }, token);
  }

  /** What the tools did, line by line. */
  did() {
    const file = join(this.folder, "mails.txt");
    return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
  }
}

/** Waits until something is so. */
export async function until(is, what, patience = 20_000) {
  const end = Date.now() + patience;
  for (;;) {
    const found = await is();
    if (found) return found;
    if (Date.now() > end) throw new Error(`never came to: ${typeof what === "function" ? what() : what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
