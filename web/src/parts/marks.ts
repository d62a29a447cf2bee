// Reads the Markdown that models write into blocks and words, and knows nothing of drawing. What it does not know (HTML, pictures,
// footnotes) stays as it was written. Every loop is over lines or characters once, so that no text takes long: there is no
// pattern here that looks back.

export type Words = Word[];
export type Word =
  | { is: "text"; text: string }
  | { is: "code"; text: string }
  | { is: "strong" | "em" | "del"; inside: Words }
  | { is: "link"; raw: string; text: string; href: string; inside: Words }
  | { is: "break" };

export type Block =
  | { is: "paragraph" | "heading"; words: Words }
  | { is: "code"; text: string }
  | { is: "quote"; blocks: Block[] }
  | { is: "list"; start: number | null; items: Block[][] }
  | { is: "table"; header: Words[]; rows: Words[][] }
  | { is: "rule" }
  | { is: "plain"; text: string };

// Deeper than this is no writing, and every level is drawn inside the one before.
const DEPTH_MOST = 16;

export function blocksOf(text: string): Block[] {
  return readBlocks(text.replace(/\r\n?/g, "\n").split("\n"), 0);
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}#{1,6}[ \t]+/;
const RULE = /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])([ \t]+|$)/;
const TABLE_RULE = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
const INDENTED = /^(?: {4}|\t)/;

function readBlocks(lines: string[], depth: number): Block[] {
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? "";
    if (line.trim() === "") {
      at += 1;
      continue;
    }
    const [block, next] = readBlock(lines, at, depth);
    blocks.push(block);
    at = next;
  }
  return blocks;
}

function readBlock(lines: string[], at: number, depth: number): [Block, number] {
  const line = lines[at] ?? "";
  if (depth > DEPTH_MOST) return [{ is: "plain", text: lines.slice(at).join("\n") }, lines.length];
  const fence = FENCE.exec(line)?.[1];
  if (fence !== undefined) return readFence(lines, at, fence);
  if (HEADING.test(line)) return [{ is: "heading", words: wordsOf(withoutEnd(line.replace(HEADING, "").trimEnd(), "#")) }, at + 1];
  if (RULE.test(line)) return [{ is: "rule" }, at + 1];
  if (QUOTE.test(line)) return readQuote(lines, at, depth);
  if (ITEM.test(line)) return readList(lines, at, depth);
  if (INDENTED.test(line)) return readIndented(lines, at);
  if (line.includes("|") && TABLE_RULE.test(lines[at + 1] ?? "")) return readTable(lines, at);
  return readParagraph(lines, at);
}

/** "Title ##" is "Title". By hand: a pattern for it would look at a long run again and again. */
function withoutEnd(text: string, sign: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === sign) end -= 1;
  return end === text.length || (end > 0 && text[end - 1] !== " ") ? text : text.slice(0, end).trimEnd();
}

function readFence(lines: string[], at: number, fence: string): [Block, number] {
  let end = at + 1;
  const closes = (line: string) => line.trim().startsWith(fence) && line.trim().split("").every((one) => one === fence[0]);
  while (end < lines.length && !closes(lines[end] ?? "")) end += 1;
  // The name of a language is left out; a sentence is not.
  const info = (lines[at] ?? "").trim().slice(fence.length).trim();
  const from = /\s/.test(info) ? at : at + 1;
  return [{ is: "code", text: lines.slice(from, end).join("\n") }, end + 1];
}

function readIndented(lines: string[], at: number): [Block, number] {
  let end = at;
  while (end < lines.length && INDENTED.test(lines[end] ?? "")) end += 1;
  return [{ is: "code", text: lines.slice(at, end).map((line) => line.replace(INDENTED, "")).join("\n") }, end];
}

function readQuote(lines: string[], at: number, depth: number): [Block, number] {
  let end = at;
  while (end < lines.length && QUOTE.test(lines[end] ?? "")) end += 1;
  return [{ is: "quote", blocks: readBlocks(lines.slice(at, end).map((line) => line.replace(QUOTE, "")), depth + 1) }, end];
}

function readList(lines: string[], at: number, depth: number): [Block, number] {
  const first = ITEM.exec(lines[at] ?? "");
  const ordered = /\d/.test(first?.[2] ?? "");
  const items: string[][] = [];
  let wide = 0;
  let end = at;
  for (; end < lines.length; end += 1) {
    const line = lines[end] ?? "";
    const item = ITEM.exec(line);
    const inside = items.at(-1);
    if (item && (inside === undefined || (item[1] ?? "").length < wide) && !RULE.test(line)) {
      if (/\d/.test(item[2] ?? "") !== ordered) break;
      wide = (item[1] ?? "").length + (item[2] ?? "").length + Math.min((item[3] ?? "").length, 4);
      items.push([line.slice(item[0].length)]);
    } else if (line.trim() === "") {
      // A list goes on behind an empty line only with what belongs to it.
      const next = lines[end + 1] ?? "";
      if (!ITEM.test(next) && indentOf(next) < wide) break;
      inside?.push("");
    } else if (indentOf(line) >= wide) inside?.push(line.slice(wide));
    else if (inside?.at(-1) === "" || beginsBlock(line)) break;
    else inside?.push(line.trimStart());
  }
  return [{ is: "list", start: ordered ? Number.parseInt(first?.[2] ?? "1", 10) : null, items: items.map((item) => readBlocks(item, depth + 1)) }, end];
}

const indentOf = (line: string): number => (line.trim() === "" ? 0 : line.length - line.trimStart().length);
const beginsBlock = (line: string): boolean => FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line) || ITEM.test(line);

function readTable(lines: string[], at: number): [Block, number] {
  const header = cellsOf(lines[at] ?? "");
  let end = at + 2;
  while (end < lines.length && (lines[end] ?? "").includes("|")) end += 1;
  const rows = lines.slice(at + 2, end).map((line) => {
    // More cells than the heading has are shown as well: nothing is left out.
    const cells = cellsOf(line);
    return [...cells, ...Array.from({ length: Math.max(0, header.length - cells.length) }, (): Words => [])];
  });
  return [{ is: "table", header, rows }, end];
}

/** "\|" is a bar inside of a cell. */
function cellsOf(line: string): Words[] {
  const cells = line.trim().replace(/^\|/, "").replace(/\\\|/g, "\u0000").replace(/\|[ \t]*$/, "").split("|");
  return cells.map((cell) => wordsOf(cell.trim().replaceAll("\u0000", "|")));
}

function readParagraph(lines: string[], at: number): [Block, number] {
  let end = at + 1;
  while (end < lines.length && (lines[end] ?? "").trim() !== "" && !beginsBlock(lines[end] ?? "")) end += 1;
  return [{ is: "paragraph", words: wordsOf(lines.slice(at, end).join("\n")) }, end];
}

const MARKS: [string, "strong" | "em" | "del"][] = [["**", "strong"], ["__", "strong"], ["~~", "del"], ["*", "em"], ["_", "em"]];
const LETTER = /[\p{L}\p{N}]/u;

export function wordsOf(text: string, depth = 0): Words {
  const words: Words = [];
  let plain = "";
  const push = (word: Word) => {
    if (plain !== "") words.push({ is: "text", text: plain });
    plain = "";
    words.push(word);
  };
  // Signs that were looked for and are not there are not looked for again.
  const missing = new Set<string>();
  let at = 0;
  while (at < text.length) {
    const found = depth > DEPTH_MOST ? null : wordAt(text, at, depth, missing);
    if (found !== null) {
      push(found.word);
      at = found.next;
    } else if (text[at] === "\\" && /[!-/:-@[-`{-~]/.test(text[at + 1] ?? "")) {
      plain += text[at + 1];
      at += 2;
    } else {
      plain += text[at];
      at += 1;
    }
  }
  if (plain !== "") words.push({ is: "text", text: plain });
  return words;
}

type Found = { word: Word; next: number } | null;

function wordAt(text: string, at: number, depth: number, missing: Set<string>): Found {
  const sign = text[at] ?? "";
  if (sign === "`") return codeAt(text, at, missing);
  if (sign === "!" && text[at + 1] === "[") {
    // A picture stays as it was written, address and all.
    const picture = linkAt(text, at + 1, depth, missing);
    return picture?.word.is === "link" ? { word: { is: "text", text: `!${picture.word.raw}` }, next: picture.next } : null;
  }
  if (sign === "[") return linkAt(text, at, depth, missing);
  if (sign === "h" && !LETTER.test(text[at - 1] ?? "")) return addressAt(text, at);
  if (sign === "\n" && (text.endsWith("  ", at) || text[at - 1] === "\\")) return { word: { is: "break" }, next: at + 1 };
  for (const [mark, is] of MARKS) {
    if (!text.startsWith(mark, at)) continue;
    const found = markedAt(text, at, mark, is, depth, missing);
    if (found !== null) return found;
  }
  return null;
}

function codeAt(text: string, at: number, missing: Set<string>): Found {
  let ticks = 1;
  while (text[at + ticks] === "`") ticks += 1;
  const fence = "`".repeat(ticks);
  const end = missing.has(fence) ? -1 : text.indexOf(fence, at + ticks);
  if (end < 0) {
    missing.add(fence);
    // All of them at once: looked at one by one, a long run would be counted again for each.
    return { word: { is: "text", text: fence }, next: at + ticks };
  }
  const inside = text.slice(at + ticks, end).replace(/\n/g, " ");
  const padded = /^ .*\S.* $/.test(inside);
  return { word: { is: "code", text: padded ? inside.slice(1, -1) : inside }, next: end + ticks };
}

/** Whether a mark stands at the edge of a word: something beside it, and if that is a sign, nothing but signs and spaces on its other side. */
function hugs(inner: string | undefined, outer: string | undefined): boolean {
  if (inner === undefined || /\s/.test(inner)) return false;
  return LETTER.test(inner) || outer === undefined || !LETTER.test(outer);
}

/** Marks hug their words: "2 * 3 * 4" and "snake_case_name" are none. */
function markedAt(text: string, at: number, mark: string, is: "strong" | "em" | "del", depth: number, missing: Set<string>): Found {
  const from = at + mark.length;
  if (missing.has(mark) || !hugs(text[from], text[at - 1]) || (mark[0] === "_" && LETTER.test(text[at - 1] ?? ""))) return null;
  let end = text.indexOf(mark, from + 1);
  const fits = (place: number) => hugs(text[place - 1], text[place + mark.length]) && !(mark.length === 1 && text[place + 1] === mark) && !(mark[0] === "_" && LETTER.test(text[place + mark.length] ?? ""));
  while (end >= 0 && !fits(end)) end = text.indexOf(mark, end + mark.length + 1);
  if (end < 0) {
    missing.add(mark);
    return null;
  }
  // "***both***": the outer mark ends last.
  if (mark.length === 2 && text[end + 2] === mark[0] && text[from] === mark[0]) end += 1;
  return { word: { is, inside: wordsOf(text.slice(from, end), depth + 1) }, next: end + mark.length };
}

// A link's words and address; longer ones are no links that somebody would follow.
const LINK_MOST = 2048;

function linkAt(text: string, at: number, depth: number, missing: Set<string>): Found {
  if (missing.has("[")) return null;
  const window = text.slice(at, at + LINK_MOST);
  const middle = window.indexOf("]");
  if (middle < 0 && window.length < LINK_MOST) missing.add("[");
  if (middle < 0 || window[middle + 1] !== "(" || window.slice(1, middle).includes("[")) return null;
  const end = window.indexOf(")", middle);
  if (end < 0) return null;
  const label = window.slice(1, middle);
  const href = window.slice(middle + 2, end).trim();
  return { word: { is: "link", raw: window.slice(0, end + 1), text: label, href, inside: wordsOf(label, depth + 1) }, next: at + end + 1 };
}

const ADDRESS = /^https?:\/\/[^\s<>"'`\])|*]+/;

function addressAt(text: string, at: number): Found {
  const found = ADDRESS.exec(text.slice(at, at + LINK_MOST))?.[0];
  if (found === undefined) return null;
  let end = found.length;
  while (".,;:!?".includes(found[end - 1] ?? " ")) end -= 1;
  const raw = found.slice(0, end);
  return { word: { is: "link", raw, text: raw, href: raw, inside: [{ is: "text", text: raw }] }, next: at + raw.length };
}
