// Colours change nothing of what is drawn: the pieces joined are the text, whatever is in it, and no text takes long.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "vite";

const folder = await mkdtemp(join(tmpdir(), "holdpoint-code-"));
after(() => rm(folder, { recursive: true }));
await build({
  configFile: false,
  logLevel: "error",
  build: { ssr: true, outDir: folder, rollupOptions: { input: new URL("../src/highlight.ts", import.meta.url).pathname, output: { entryFileNames: "[name].mjs" } } },
});
const { codeOf, highlight } = await import(pathToFileURL(join(folder, "highlight.mjs")).href);

const CODES = ["sql", "shell", "json", "http"];
const joined = (text, code) => highlight(text, code).map((piece) => piece[1]).join("");
const kinds = (text, code) => Object.fromEntries(highlight(text, code).filter((piece) => piece[0] !== "").map(([kind, piece]) => [piece, kind]));

test("the pieces joined are the text, byte for byte", () => {
  const hostile = [
    "",
    "DELETE FROM orders -- x\nWHERE a = 'it''s' /* not closed",
    "'",
    '"',
    "/*!50000 DROP TABLE users */ SELECT 1",
    "rm -rf \"$HOME\" && `id` # '",
    "\u202e\u2066\ufeff\u0000\r\n\t 🚀 e\u0301 文",
    '{"a": [1, true, "x\\"y"], "b": "\\u202e"',
    "DELETE https://example.org/x?y=1\nX-Team: ops\n\n{}",
    "\ud800 lone",
  ];
  // Anything at all: the characters that mean something to one of the languages, in every order that a small generator finds.
  let seed = 7;
  const next = (most) => (seed = (seed * 1103515245 + 12345) % 2147483648) % most;
  const signs = ["'", '"', "`", "/*", "*/", "--", "#", "$(", "${", "}", "\\", "\n", " ", "a", "DROP", "1", "[", "]", ":", "&&", "|", "\u202e", "é", "🚀"];
  for (let at = 0; at < 2000; at += 1) hostile.push(Array.from({ length: next(30) }, () => signs[next(signs.length)]).join(""));
  for (const code of CODES) for (const text of hostile) assert.equal(joined(text, code), text);
});

test("what deletes is told apart, a comment is not, and a comment that runs is none", () => {
  assert.deepEqual(kinds("DELETE FROM t WHERE a = 'drop'", "sql"), { DELETE: "danger", FROM: "key", WHERE: "key", "'drop'": "str" });
  assert.equal(kinds("SELECT 1 /* DROP TABLE x */", "sql").DROP, undefined);
  assert.equal(kinds("/*!50000 DROP TABLE x */", "sql").DROP, "danger");
  assert.equal(kinds("rm -rf build && git push --force", "shell").rm, "danger");
  assert.equal(kinds("rm -rf build && git push --force", "shell")["--force"], "danger");
  assert.equal(kinds("echo rm", "shell").rm, undefined);
  assert.equal(kinds('{"a": "b"}', "json")['"a"'], "name");
  assert.equal(kinds("DELETE https://example.org/1", "http").DELETE, "danger");
});

test("a text is coloured by the name of its field and by itself", () => {
  assert.equal(codeOf("sql", "SELECT 1"), "sql");
  assert.equal(codeOf("sql", "a note about sql"), null);
  assert.equal(codeOf("command", "ls"), "shell");
  assert.equal(codeOf("body", '{"a": 1}'), "json");
  assert.equal(codeOf("body", "{not json"), null);
});

test("no text takes long", () => {
  for (const code of CODES) {
    for (const text of ["'", '"', "/*", "$(", "[a ", "a=", "{\"", "x:", " #", "-- \n"].map((one) => one.repeat(32_000 / one.length))) {
      const began = performance.now();
      highlight(text, code);
      assert.ok(performance.now() - began < 500, `${code} took ${performance.now() - began} ms for ${text.slice(0, 8)}…`);
    }
  }
  assert.deepEqual(highlight("x".repeat(100_000), "sql"), [["", "x".repeat(100_000)]], "a long text stays plain");
});
