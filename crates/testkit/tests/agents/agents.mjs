// How each agent is started, and the words for one shell command in its tools.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { KEY, MODEL, call, run } from "./world.mjs";

const bin = (name) => fileURLToPath(new URL(`node_modules/.bin/${name}`, import.meta.url));

/** `http`: Claude Code posts its calls to the server by itself. */
const claudeCode = (name, http) => ({
  name,
  hook: "claude",
  http,
  shell: (command, id) => call("Bash", { command, description: "a test" }, id),
  async setUp(w, options) {
    w.env.CLAUDE_CONFIG_DIR = join(w.home, "claude");
    const folder = options?.project ? join(w.project, ".claude") : w.env.CLAUDE_CONFIG_DIR;
    await w.install("claude", join(folder, "settings.json"), { http, ...options });
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
  prompt(w, { wait = 30, server = w.url } = {}) {
    const serve = ["mcp", "serve", "--server", server, "--permission-wait", `${wait}s`];
    const holdpoint = { command: process.env.HOLDPOINT_BIN, args: serve };
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
});

export const claude = claudeCode("claude", false);
export const claudeHttp = claudeCode("claude over HTTP", true);

export const codex = {
  name: "codex",
  hook: "codex",
  http: false,
  shell: (command, id) => call("exec_command", { cmd: command }, id),
  async setUp(w, options) {
    w.env.CODEX_HOME = join(w.home, "codex");
    mkdirSync(w.env.CODEX_HOME, { recursive: true });
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
    // Codex reads the settings of a project only if the user trusts it.
    const trust = options?.project ? `\n[projects."${w.project}"]\ntrust_level = "trusted"\n` : "";
    writeFileSync(file, provider + trust);
    await w.install("codex", options?.project ? join(w.project, ".codex", "config.toml") : file, options);
  },
  go: (w) =>
    run(
      bin("codex"),
      ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "--sandbox", "danger-full-access", "--json", "go"],
      { cwd: w.project, env: { ...w.env, FAKE_KEY: KEY } },
    ),
};

export const gemini = {
  name: "gemini",
  hook: "gemini",
  http: false,
  shell: (command, id) => call("run_shell_command", { command, description: "a test" }, id),
  async setUp(w, options) {
    const file = join(w.home, ".gemini", "settings.json");
    mkdirSync(join(w.home, ".gemini"), { recursive: true });
    const settings = {
      security: { auth: { selectedType: "gemini-api-key" } },
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false },
    };
    writeFileSync(file, JSON.stringify(settings));
    // Gemini CLI reads the settings of a project only if the user trusts its folder.
    if (options?.project) writeFileSync(join(w.home, ".gemini", "trustedFolders.json"), JSON.stringify({ [w.project]: "TRUST_FOLDER" }));
    await w.install("gemini", options?.project ? join(w.project, ".gemini", "settings.json") : file, options);
  },
  go: (w) =>
    run(bin("gemini"), ["-p", "go", "--yolo", "--skip-trust", "-m", "gemini-2.5-flash", "--output-format", "json"], {
      cwd: w.project,
      env: { ...w.env, GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: w.geminiUrl },
    }),
};
