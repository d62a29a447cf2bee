// Lines of the server about how a call runs and why there is no preview, in Chinese. In English the page shows the text that the
// server sent, and so it does for a code that it does not know.

import type { ForeignText, Phrase } from "../wire";
import type { Piece } from "./zh_warnings";

/** Values stand in the order of the server's list. */
const PHRASES: Record<string, string> = {
  program: "程序：{}",
  environment: "环境变量：{}",
  time_limit: "时间限制：{} 秒",
  bound_file: "文件：{}",
  bound_file_beginning: "文件：{}（仅开头部分），{} 字节，更改于 {}",
  as_user: "以用户身份运行：{}",
  database: "数据库：{}，位于 {}",
  database_read_only: "数据库：{}，位于 {}，只读",
  postgres: "数据库：{}，位于 {}，用户 {}（PostgreSQL）",
  postgres_read_only: "数据库：{}，位于 {}，用户 {}（PostgreSQL），只读",
  rows_not_counted: "未统计行数",
  rows_changed: "改变的行数：{}",
  rows_also_changed: "因触发器和外键而改变的行数：{}",
  mcp_tool: "MCP 服务器：{}（{}），工具：{}",
  reached_by: "连接方式：{}",
  reached_as_user: "连接方式：{}，用户：{}",
  definition: "定义：{}",
  server_says_nothing: "服务器没有说明其影响",
  server_says: "服务器声称：{}（未经核实）",
  request_body: "正文：{}",
  key_sent: "以 `idempotency-key` 附带此调用的幂等键",
  public_addresses: "仅发往公网地址",
  any_address: "可发往任何地址，包括内网地址",
  demo_cloud: "Shipper Cloud（演示）",
  rows_uncounted: "无法统计涉及的行数：{}",
  database_unreadable: "无法读取数据库：{}",
  database_busy: "另一个程序正占用数据库，请稍后再试",
  rows_busy: "另一个程序正占用这些行，请稍后再试",
  interrupted: "已被中止，或超过了时间限制",
  database_unreachable: "无法连接数据库：{}",
  no_answer: "{} 秒内没有应答",
  certificates_unreadable: "无法读取本机的证书：{}",
  marker_not_writable: "需要表 {} 才能保证更改只执行一次，而此用户无权写入；请数据库所有者执行：{}",
  marker_not_made: "需要表 {} 才能保证更改只执行一次，而此用户无权创建；请数据库所有者执行：{}",
  program_not_found: "在 PATH 中找不到程序 `{}`，请指定已安装的程序",
  program_not_executable: "`{}` 不是可执行文件",
  file_unreadable: "无法读取 `{}`：{}",
  too_much_to_check: "所指定的程序和脚本合计超过 {} MiB，超出单个命令的核对上限；请减少一次指定的数量",
  preview_failed: "工具的预览异常终止",
  preview_too_slow: "工具的预览超过了 {} 秒",
};

/** What an MCP server says about a tool, in the server's own list of words. */
const CLAIMS: Record<string, string> = {
  "reads only": "只读取",
  "writes": "会写入",
  "may destroy": "可能造成破坏",
  "does not destroy": "不造成破坏",
  "may be repeated": "可以重复",
  "must not be repeated": "不得重复",
  "reaches the outside": "会访问外部",
  "stays inside": "不访问外部",
};

export function phraseInChinese(phrase: Phrase): Piece[] | null {
  const template = PHRASES[phrase.code];
  const pieces = template?.split("{}");
  // Without a value the line would say something else.
  if (!pieces || pieces.length !== phrase.values.length + 1) return null;
  const values = phrase.code === "server_says" ? phrase.values.map(claims) : phrase.values;
  return pieces.flatMap((piece, at) => (at > 0 ? [values[at - 1] as Piece, piece] : [piece])).filter((piece) => piece !== "");
}

/** The outermost reason first; each of the others is the last value of the one before it. */
export function reasonInChinese(phrases: Phrase[]): Piece[] | null {
  const [outer, ...inner] = phrases;
  if (!outer) return null;
  const worded = phraseInChinese(outer);
  const within = reasonInChinese(inner);
  const last = outer.values.at(-1);
  return worded && within ? worded.flatMap((piece) => (piece === last ? within : [piece])) : worded;
}

function claims(value: ForeignText): Piece {
  const [line] = value.lines;
  if (value.lines.length !== 1 || line?.length !== 1 || typeof line[0] !== "string") return value;
  return line[0].split(", ").map((claim) => CLAIMS[claim] ?? claim).join("、");
}
