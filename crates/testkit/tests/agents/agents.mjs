// How each agent is started, and the words for one shell command in its tools.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { KEY, MODEL, call, run } from "./world.mjs";

const bin = (name) => fileURLToPath(new URL(`node_modules/.bin/${name}`, import.meta.url));

export const claude = {
  name: "claude",
  shell: (command) => call("Bash", { command, description: "a test" }),
  async setUp(w, options) {
    w.env.CLAUDE_CONFIG_DIR = join(w.home, "claude");
    await w.install("claude", join(w.home, "claude", "settings.json"), options);
  },
  // The tools are allowed as far as Claude Code itself is concerned: a hook that fails open would let them run.
  go: (w, args = ["go"]) =>
    run(bin("claude"), ["-p", ...args, "--output-format", "json", "--model", MODEL, "--allowedTools", "Bash,Write,Edit,Read"], {
      cwd: w.project,
      env: {
        ...w.env,
        ANTHROPIC_BASE_URL: w.modelUrl,
        ANTHROPIC_API_KEY: KEY,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      },
    }),
  /** Its own rules leave the call open, so that it asks our MCP server. */
  prompt(w) {
    const holdpoint = { command: process.env.HOLDPOINT_BIN, args: ["mcp", "serve", "--server", w.url] };
    const servers = join(w.home, "mcp.json");
    writeFileSync(servers, JSON.stringify({ mcpServers: { holdpoint } }));
    const args = ["-p", "go", "--output-format", "json", "--model", MODEL];
    return run(bin("claude"), [...args, "--mcp-config", servers, "--permission-prompt-tool", "mcp__holdpoint__ask"], {
      cwd: w.project,
      env: {
        ...w.env,
        ANTHROPIC_BASE_URL: w.modelUrl,
        ANTHROPIC_API_KEY: KEY,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      },
    });
  },
};

export const codex = {
  name: "codex",
  shell: (command) => call("exec_command", { cmd: command }),
  async setUp(w, options) {
    w.env.CODEX_HOME = join(w.home, "codex");
    mkdirSync(w.env.CODEX_HOME);
    const provider = `model = "${MODEL}"
model_provider = "fake"
approval_policy = "never"

[model_providers.fake]
name = "fake"
base_url = "${w.modelUrl}/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
`;
    const file = join(w.env.CODEX_HOME, "config.toml");
    writeFileSync(file, provider);
    await w.install("codex", file, options);
  },
  go: (w) =>
    run(
      bin("codex"),
      ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "--sandbox", "danger-full-access", "--json", "go"],
      { cwd: w.project, env: { ...w.env, FAKE_KEY: KEY } },
    ),
};
