// Titles and summaries of the server in Chinese, worded from their codes and values. In English the page shows the line that the
// server sent, and so it does for a code that it does not know.

import type { CaptionValues } from "../wire";
import type { Piece } from "./zh_warnings";

export function captionInChinese(code: string, values: CaptionValues): Piece[] | null {
  const pieces = wording(code, values);
  // Without a value the line would say something else.
  return pieces === null || pieces.includes(undefined) ? null : (pieces as Piece[]);
}

function wording(code: string, v: CaptionValues): (Piece | undefined)[] | null {
  const about = v.estimated ? "约" : "";
  switch (code) {
    case "insert_rows":
      return ["向 ", v.table, ` 插入${about} `, v.rows?.toString(), " 行"];
    case "update_rows":
      return ["更新 ", v.table, ` 中的${about} `, v.rows?.toString(), " 行"];
    case "delete_rows":
      return ["从 ", v.table, ` 删除${about} `, v.rows?.toString(), " 行"];
    case "change_tables":
      return ["修改 ", v.database, " 的表结构：", v.sql];
    case "query_database":
      return ["查询 ", v.database, "：", v.sql];
    case "run_command":
      return ["运行：", v.command];
    case "run_in_shell":
      return ["在 shell 中运行：", v.script];
    case "run_tool":
      return v.arguments === null ? ["运行 ", v.tool] : ["运行 ", v.tool, "：", v.arguments];
    case "carry_out":
      return ["执行 ", v.tool];
    case "several_questions":
      return [v.questions?.toString(), " 个问题：", v.headers];
    case "what_happened": {
      const to = v.code === undefined ? null : captionInChinese(v.code, v.values ?? {});
      return ["这次调用的结果如何？ ", ...(to ?? [v.to])];
    }
    case "cut": {
      const of = v.code === undefined ? null : captionInChinese(v.code, v.values ?? {});
      return [...(of ?? [v.to]), "…（还有 ", v.left_out?.toString(), " 个字符）"];
    }
    case "server_asks":
      return ["服务器 ", v.server, " 询问：", v.message];
    case "deploy":
      return ["将 ", v.project, " 部署到 ", v.target];
    case "go_on":
      return ["是否允许继续运行？已用完限额：", amount(v.budget, v.limit)];
    case "rows":
      return [v.estimated ? "约 " : "", v.rows?.toString(), " 行", ...(v.more ? [`，另有 ${v.more} 行因触发器和外键而改变`] : [])];
    case "sends":
      return ["发送 ", v.request];
    case "used":
      return ["已用：", amount(v.budget, v.used), "；继续则再给：", amount(v.budget, v.limit)];
    case "new_definition":
      return ["首次连接该服务器时还没有这个工具"];
    case "changed_definition":
      return ["服务器更改了对这个工具的说明"];
    default:
      return null;
  }
}

function amount(budget: string | undefined, much: number | undefined): string | undefined {
  if (much === undefined) return undefined;
  switch (budget) {
    case "turns":
      return `${much} 轮`;
    case "tokens":
      return `${much} 个词元`;
    case "money":
      return `金额 ${money(much)}`;
    case "time":
      return `运行 ${time(much)}`;
    default:
      return undefined;
  }
}

/** Millionths, with at least two places. */
function money(millionths: number): string {
  const places = (millionths % 1_000_000).toString().padStart(6, "0").replace(/0{1,4}$/, "");
  return `${Math.floor(millionths / 1_000_000)}.${places}`;
}

function time(ms: number): string {
  const all = Math.floor(ms / 1000);
  const [hours, minutes, seconds] = [Math.floor(all / 3600), Math.floor(all / 60) % 60, all % 60];
  if (all === 0) return `${ms} 毫秒`;
  if (hours > 0) return minutes > 0 ? `${hours} 小时 ${minutes} 分` : `${hours} 小时`;
  if (minutes === 0) return `${seconds} 秒`;
  return seconds > 0 ? `${minutes} 分 ${seconds} 秒` : `${minutes} 分`;
}
