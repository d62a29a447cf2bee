// The reader of Markdown without a browser: what it knows, what it leaves as it was written, and that no text takes it long.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "vite";

const folder = await mkdtemp(join(tmpdir(), "holdpoint-marks-"));
after(() => rm(folder, { recursive: true }));
const source = (name) => new URL(`../src/${name}.ts`, import.meta.url).pathname;
await build({ configFile: false, logLevel: "error", build: { ssr: true, outDir: folder, rollupOptions: { input: ["parts/marks", "foreign_spans"].map(source), output: { entryFileNames: "[name].mjs" } } } });
const { blocksOf, wordsOf } = await import(pathToFileURL(join(folder, "marks.mjs")).href);
const { foreignOf, exact } = await import(pathToFileURL(join(folder, "foreign_spans.mjs")).href);

/** Words in a short notation. */
const said = (words) =>
  words
    .map((word) => {
      if (word.is === "text") return word.text;
      if (word.is === "code") return `<c:${word.text}>`;
      if (word.is === "break") return "<br>";
      if (word.is === "link") return `<a:${word.href}:${said(word.inside)}>`;
      return `<${word.is}:${said(word.inside)}>`;
    })
    .join("");
const shape = (blocks) =>
  blocks.map((block) => {
    if (block.is === "paragraph" || block.is === "heading") return `${block.is}(${said(block.words)})`;
    if (block.is === "code" || block.is === "plain") return `${block.is}(${block.text})`;
    if (block.is === "quote") return ["quote", ...shape(block.blocks)];
    if (block.is === "list") return [block.start === null ? "ul" : `ol${block.start}`, ...block.items.map(shape)];
    if (block.is === "table") return ["table", block.header.map(said), ...block.rows.map((row) => row.map(said))];
    return block.is;
  });

test("words: emphasis hugs its words, code is exact, and what is no mark stays", () => {
  for (const [text, wanted] of [
    ["**bold** and *it* and ~~gone~~ and __b__ and _i_", "<strong:bold> and <em:it> and <del:gone> and <strong:b> and <em:i>"],
    ["call*/ OR 1=1 and UPDATE /* x */", "call*/ OR 1=1 and UPDATE /* x */"],
    ["![a picture](https://evil.example/p.png) after", "![a picture](https://evil.example/p.png) after"],
    ["***both***", "<strong:<em:both>>"],
    ["2 * 3 * 4 and snake_case_name and 5*6", "2 * 3 * 4 and snake_case_name and 5*6"],
    ["`a * b` and `` a ` b ``", "<c:a * b> and <c:a ` b>"],
    ["\\*not\\* \\`this\\`", "*not* `this`"],
    ["an *open mark, `and another", "an *open mark, `and another"],
    ["[shop](https://shop.example/a) ![x](y) [no link] [a](javascript:alert(1))", "<a:https://shop.example/a:shop> ![x](y) [no link] <a:javascript:alert(1:a>)"],
    ["see https://shop.example/a?b=c. Then", "see <a:https://shop.example/a?b=c:https://shop.example/a?b=c>. Then"],
    ["one  \ntwo\nthree", "one  <br>two\nthree"],
    ["<b>html</b> &amp;", "<b>html</b> &amp;"],
  ])
    assert.equal(said(wordsOf(text)), wanted, text);
});

test("blocks: headings, lists inside of lists, tables, code, quotes", () => {
  assert.deepEqual(shape(blocksOf("# Found ##\n\ntext\ngoes on\n\n---\n\n> q\n> r\n\n```sql\nSELECT 1\n\n# no heading\n```\n\n    indented")), [
    "heading(Found)",
    "paragraph(text\ngoes on)",
    "rule",
    ["quote", "paragraph(q\nr)"],
    "code(SELECT 1\n\n# no heading)",
    "code(indented)",
  ]);
  assert.deepEqual(shape(blocksOf("- one\n- two\n  - inner\n\n  more of two\n- three\n\nafter")), [
    ["ul", ["paragraph(one)"], ["paragraph(two)", ["ul", ["paragraph(inner)"]], "paragraph(more of two)"], ["paragraph(three)"]],
    "paragraph(after)",
  ]);
  assert.deepEqual(shape(blocksOf("3. three\n4. four\n- other")), [["ol3", ["paragraph(three)"], ["paragraph(four)"]], ["ul", ["paragraph(other)"]]]);
  assert.deepEqual(shape(blocksOf("| a | b |\n|---|:-:|\n| 1 \\| 2 | **x** |\n| short |\nafter")), [["table", ["a", "b"], ["1 | 2", "<strong:x>"], ["short", ""]], "paragraph(after)"]);
  assert.deepEqual(shape(blocksOf("```\nnever closed")), ["code(never closed)"]);
});

test("every letter of a text is in what was read, whatever it is", () => {
  const letters = (value) => {
    if (typeof value === "string") return value;
    if (value === null || typeof value !== "object") return "";
    if (value.is === "link") return value.raw;
    return Object.entries(value).map(([key, inner]) => (key === "is" ? "" : letters(inner))).join("");
  };
  // The name of a language is the one thing that is left out, so that no letter may stand right behind a fence.
  const signs = ["a", "b", " ", "\n", "*", "_", "`", "[", "]", "(", ")", "-", "#", ">", "|", "~", "1.", "    ", "\n\n", "\n```\n", "](", "|-|\n", "https://x.y/"];
  let seed = 7;
  const next = (most) => (seed = (seed * 48271) % 2147483647) % most;
  for (let turn = 0; turn < 5000; turn += 1) {
    const text = Array.from({ length: 1 + next(40) }, () => signs[next(signs.length)]).join("");
    if (/(```|~~~)[ab\w]/.test(text)) continue;
    const kept = letters(blocksOf(text));
    for (const letter of ["a", "b"]) assert.equal(kept.split(letter).length, text.split(letter).length, JSON.stringify([text, blocksOf(text)]));
  }
});

test("no text takes long", () => {
  const most = 64 * 1024;
  const bad = ["*a ", "**a ", "_a_b", "[", "[a](", "`", "``a`", "> ", "- ", "#", "# ", "|", "|-", " ", "~~a", "\\", "https://x.", "https://x......", "![", "](", "1. ", "* * ", "\n- \n", "\n> - ", "*_", "***a** "];
  for (const piece of bad) {
    for (const text of [piece.repeat(most / piece.length), `${piece.repeat(most / piece.length)}x*`, `# ${piece.repeat(most / piece.length)}`, `| ${piece.repeat(most / piece.length)} |\n|---|`]) {
      const began = process.cpuUsage();
      blocksOf(text);
      const { user, system } = process.cpuUsage(began);
      assert.ok(user + system < 1_000_000, `${JSON.stringify(piece)} takes ${Math.round((user + system) / 1000)} ms`);
    }
  }
});

test("spaces in a line that ends in one are not marked for it, and the one at its end is", () => {
  assert.deepEqual(foreignOf("one two three ").lines, [["one two three", { spaces: 1 }]]);
  assert.deepEqual(foreignOf("a  b  c").lines, [["a  b  c"]]);
  assert.deepEqual(foreignOf("a    b").lines, [["a", { spaces: 4 }, "b"]]);
  for (const text of ["one two ", " ", "", "  a ", "a    b  \n c "]) assert.equal(exact(foreignOf(text)), text);
});
