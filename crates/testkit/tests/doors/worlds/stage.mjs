// The real program with the door `worlds` open, in a folder of its own, and what its tools did there.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const BINARY =
  process.env.HOLDPOINT_BIN ?? new URL("../../../../../target/debug/holdpoint", import.meta.url).pathname;

const config = (folder) => `
[server]
listen = "127.0.0.1:0"

[store]
url = "sqlite:data"

[models.script]
provider = "scripted"
script = "script.toml"

[[agents]]
id = "ops"
model = "script"
tools = ["shell_cmd", "human_intervention.request", "ask_user_input"]

[[agents]]
id = "aide"
model = "script"
tools = ["human_intervention.request"]

[[tools]]
name = "shell_cmd"
kind = "shell_cmd"
roots = [${JSON.stringify(join(folder, "one"))}, ${JSON.stringify(join(folder, "two"))}]

[[tools]]
name = "human_intervention.request"
kind = "human"

[[tools]]
name = "ask_user_input"
kind = "human"
asks = "questions"

[[people]]
id = "ana"
name = "Ana"
roles = ["admin"]

[doors.worlds]
enabled = true
act_as = "ana"
insecure = true
worlds = { "My World" = ["ops", "aide"] }
`;

const SCRIPT = `
default = "I do not know that."

[[turn]]
when = { says = "which way?" }
text = "This way, \\"please\\"."
deltas = { words = 1, delay_ms = 1 }

[[turn]]
when = { says_regex = '^touch (\\w+) in (\\S+)$' }
text = "I will."
calls = [{ tool = "shell_cmd", arguments = { argv = ["touch", "{1}"], cwd = "{2}" } }]

[[turn]]
when = { says_contains = "touch, then ask" }
calls = [{ tool = "shell_cmd", arguments = { argv = ["touch", "first"] } }]

[[turn]]
when = { says_contains = "touch, then ask", result_of = "shell_cmd" }
calls = [{ tool = "human_intervention.request", arguments = { prompt = "And now?", options = ["Stop", "Go on"] } }]

[[turn]]
when = { says_contains = "both at once" }
calls = [
  { tool = "shell_cmd", arguments = { argv = ["touch", "both"] } },
  { tool = "human_intervention.request", arguments = { prompt = "Which strategy?", options = ["Blue-Green", "Canary"], context = { service = "shop" } } },
]

[[turn]]
when = { says_contains = "which strategy" }
calls = [{ tool = "human_intervention.request", arguments = { prompt = "Which strategy?", options = ["Blue-Green", "Canary"], context = { service = "shop" } } }]

[[turn]]
when = { says_contains = "two questions" }

[[turn.calls]]
tool = "ask_user_input"

[turn.calls.arguments]
allowSkip = true

[[turn.calls.arguments.questions]]
id = "where"
header = "Place"
question = "Where to?"
options = [{ id = "eu", label = "Europe" }, { id = "us", label = "America" }]

[[turn.calls.arguments.questions]]
id = "when"
header = "Time"
question = "When?"
options = ["now", "later"]

[[turn]]
when = { result_regex = "[^\\u0000]*" }
text = "Result: {result}"
deltas = { words = 1, delay_ms = 1 }
`;

/** Starts the program in a new folder. */
export async function start() {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-worlds-"));
  for (const name of ["one", "two"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "holdpoint.toml"), config(folder));
  writeFileSync(join(folder, "script.toml"), SCRIPT);
  const stage = new Stage(folder);
  await stage.up();
  return stage;
}

class Stage {
  constructor(folder) {
    this.folder = folder;
  }

  async up() {
    const args = ["serve", "--config", join(this.folder, "holdpoint.toml")];
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
  }

  /** Ends the program as rudely as wanted. */
  async down(signal = "SIGTERM") {
    const gone = new Promise((resolve) => this.child.once("exit", resolve));
    this.child.kill(signal);
    await gone;
  }

  async stop() {
    await this.down();
    rmSync(this.folder, { recursive: true, force: true });
  }

  place(name) {
    return join(this.folder, name);
  }

  exists(...path) {
    return existsSync(join(this.folder, ...path));
  }

  read(...path) {
    return readFileSync(join(this.folder, ...path), "utf8");
  }
}
