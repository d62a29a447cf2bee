// Words of the server in Chinese, without a browser: the modules of the page that word them, as Vite makes them.

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "vite";

const folder = await mkdtemp(join(tmpdir(), "holdpoint-words-"));
after(() => rm(folder, { recursive: true }));
const source = (name) => new URL(`../src/text/${name}.ts`, import.meta.url).pathname;
const names = ["zh_phrases", "zh_warnings", "zh_captions", "headline_zh", "zh"];
await build({
  configFile: false,
  logLevel: "error",
  build: { ssr: true, outDir: folder, rollupOptions: { input: names.map(source), output: { entryFileNames: "[name].mjs" } } },
});
const load = (name) => import(pathToFileURL(join(folder, `${name}.mjs`)).href);
const { phraseInChinese } = await load("zh_phrases");
const { warningInChinese } = await load("zh_warnings");
const { captionInChinese } = await load("zh_captions");

const foreign = (text) => ({ bytes: text.length, lines: [[text]] });
const said = (pieces) => pieces?.map((piece) => (typeof piece === "string" ? piece : piece.lines[0][0])).join("");

test("how a call runs is said in Chinese", () => {
  assert.equal(said(phraseInChinese({ code: "time_limit", values: [foreign("30")] })), "时间限制：30 秒");
  assert.equal(said(phraseInChinese({ code: "rows_not_counted", values: [] })), "未统计行数");
  const claims = { code: "server_says", values: [foreign("reads only, may destroy")] };
  assert.equal(said(phraseInChinese(claims)), "服务器声称：只读取、可能造成破坏（未经核实）");
});

test("a phrase that the page does not know, or whose values are missing, is left as the server sent it", () => {
  assert.equal(phraseInChinese({ code: "weather", values: [] }), null);
  assert.equal(phraseInChinese({ code: "time_limit", values: [] }), null);
});

test("why there is no preview is said in Chinese, and words of others stay", () => {
  const why = foreign("how many rows it touches could not be counted: …");
  const busy = [
    { code: "rows_uncounted", values: [foreign("another program holds the database; try again later")] },
    { code: "database_busy", values: [] },
  ];
  const reason = (phrases) => said(warningInChinese("no_preview", phrases ? { why, phrases } : { why }));
  assert.equal(reason(busy), "无法预览：无法统计涉及的行数：另一个程序正占用数据库，请稍后再试");
  assert.equal(reason([{ code: "rows_uncounted", values: [foreign("disk I/O error")] }]), "无法预览：无法统计涉及的行数：disk I/O error");
  assert.equal(reason(undefined), `无法预览：${why.lines[0][0]}`);
});

test("a title that was cut says so in Chinese, also of words of others", () => {
  const of = { to: foreign("Run: ls"), code: "run_command", values: { command: foreign("ls") }, left_out: 12 };
  assert.equal(said(captionInChinese("cut", of)), "运行：ls…（还有 12 个字符）");
  assert.equal(said(captionInChinese("cut", { to: foreign("POST x"), left_out: 3 })), "POST x…（还有 3 个字符）");
  assert.equal(said(captionInChinese("server_asks", { server: foreign("s"), message: foreign("m") })), "服务器 s 询问：m");
});

test("the reader is addressed as 你, and an agent is a 智能体, in every text", async () => {
  const texts = (await Promise.all(names.map((name) => readFile(join(folder, `${name}.mjs`), "utf8")))).join("\n");
  assert.ok(texts.includes("你") && texts.includes("智能体"));
  assert.deepEqual(texts.split("\n").filter((line) => /您|代理/.test(line)), []);
});
