// Colours for SQL, shell, JSON and HTTP. Only classes are added: the pieces joined are the text, and if they were not, or if
// the text is long, it is drawn plain. Comments are coloured and never paler than the rest, since what one database takes for a comment
// another one runs.

export type Code = "sql" | "shell" | "json" | "http";
export type Piece = [kind: "" | "key" | "str" | "num" | "note" | "danger" | "name", text: string];

// A longer text takes too long to colour on a phone, and nobody reads it by colour.
const CHARACTERS_MOST = 64_000;

const SQL_KEYS = new Set(
  ("add all alter analyze and as asc begin between by cascade case cast check column commit constraint create cross current_date current_timestamp database date default desc distinct do else end except exists explain false for foreign from full function grant group having if in index inner insert intersect into is join key lateral left like limit not null offset on or order outer over partition primary procedure references replace restrict returning revoke right rollback row schema select set table temp temporary then to trigger true union unique using values view when where window with").split(" "),
);
const SQL_DANGER = new Set(["delete", "drop", "truncate", "update", "alter", "grant", "revoke", "cascade", "replace", "attach", "vacuum"]);
const SHELL_KEYS = new Set("if then else elif fi for while until do done case esac in function select time".split(" "));
const SHELL_DANGER = new Set("rm rmdir dd mkfs shred kill killall pkill chmod chown sudo su doas curl wget ssh scp eval exec reboot shutdown halt truncate -rf -fr -r -f -R --force --hard --no-verify --delete --mirror --all -D".split(" "));

const RULES: Record<Code, RegExp> = {
  // A quote that never ends colours the rest, as a database would read it.
  sql: /(?<note>--[^\n]*|\/\*(?!!)[\s\S]*?(?:\*\/|$))|(?<str>'(?:[^']|'')*(?:'|$))|(?<name>"(?:[^"]|"")*(?:"|$)|`[^`]*(?:`|$)|\[[A-Za-z_][\w ]*\])|(?<num>\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b)|(?<word>[A-Za-z_][\w$]*)/gu,
  shell: /(?<note>(?<=^|\s)#[^\n]*)|(?<str>'[^']*(?:'|$)|"(?:\\[\s\S]|[^"\\])*(?:"|$))|(?<name>\$\{[^}\n]*\}?|\$[\w@#?$!*-]|`|\$\()|(?<key>&&|\|\||[|;&<>]+)|(?<word>[^\s'"$`|;&<>()]+)/gu,
  json: /(?<name>"(?:\\.|[^"\\\n])*"(?=\s*:))|(?<str>"(?:\\.|[^"\\\n])*(?:"|$))|(?<num>-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b)|(?<key>\b(?:true|false|null)\b)/gu,
  http: /(?<key>^(?:GET|HEAD|POST|PUT|PATCH|OPTIONS)\b)|(?<danger>^DELETE\b)|(?<name>^[A-Za-z][\w-]*(?=:\s))|(?<str>https?:\/\/[^\s]+)|(?<num>\b\d+\b)/gmu,
};

export function highlight(text: string, code: Code): Piece[] {
  if (text.length > CHARACTERS_MOST) return [["", text]];
  const pieces: Piece[] = [];
  let from = 0;
  let command = true;
  for (const match of text.matchAll(RULES[code])) {
    if (match[0] === "") continue;
    if (match.index > from) pieces.push(["", text.slice(from, match.index)]);
    const piece: string = match[0];
    const kind = kindOf(match, code, command);
    if (code === "shell") command = match.groups?.["key"] !== undefined && !/[<>]/.test(piece);
    pieces.push([kind, piece]);
    from = match.index + piece.length;
  }
  if (from < text.length) pieces.push(["", text.slice(from)]);
  return pieces.map((piece) => piece[1]).join("") === text ? pieces : [["", text]];
}

function kindOf(match: RegExpMatchArray, code: Code, command: boolean): Piece[0] {
  const groups = match.groups ?? {};
  const found = (["note", "str", "name", "num", "key", "danger"] as const).find((kind) => groups[kind] !== undefined);
  if (found) return found;
  const bare = match[0];
  if (code === "sql") {
    const lower = bare.toLowerCase();
    return SQL_DANGER.has(lower) ? "danger" : SQL_KEYS.has(lower) ? "key" : "";
  }
  if (SHELL_DANGER.has(bare)) return command || bare.startsWith("-") ? "danger" : "";
  if (SHELL_KEYS.has(bare) || (command && !bare.includes("="))) return "key";
  return "";
}

/** What a text is written in, by the name of its field and by itself. */
export function codeOf(name: string, text: string): Code | null {
  const plain = name.toLowerCase();
  if (/(^|[_.-])(sql|query|statement)$/.test(plain) && /^\s*(--|\/\*|select|insert|update|delete|with|create|drop|alter|replace|truncate|merge|explain|grant|revoke|begin|call|do|set|vacuum|pragma)\b|^\s*(--|\/\*)/i.test(text)) return "sql";
  if (/(^|[_.-])(command|cmd|script|shell)$/.test(plain)) return "shell";
  if (/^\s*[[{]/.test(text) && text.length < CHARACTERS_MOST) {
    try {
      JSON.parse(text);
      return "json";
    } catch {
      return null;
    }
  }
  return null;
}
