// 卡片的动作和数量（中文）。都是我们自己的话：服务器给的数字和代码，没有别人写的字。

import type { Headline, HeadlineAmount } from "../wire";

const number = (n: number): string => n.toLocaleString("zh-CN");

function rows(amount: HeadlineAmount | null): string {
  if (amount?.count === undefined) return "若干行";
  return `${amount.estimated ? "约 " : ""}${amount.was === undefined ? "" : `${number(amount.was)} → `}${number(amount.count)} 行`;
}

const UNITS: Record<string, string> = { turns: "轮", tokens: "词元" };

function budget(amount: HeadlineAmount | null): string {
  const { count = 0, limit = 0, unit } = amount ?? { unit: "turns" };
  if (unit === "money") return `费用已用 ${number(count / 1e6)}，上限 ${number(limit / 1e6)}`;
  if (unit === "time") return `已运行 ${number(Math.round(count / 1000))} 秒，上限 ${number(Math.round(limit / 1000))} 秒`;
  return `已用 ${number(count)} ${UNITS[unit] ?? unit}，上限 ${number(limit)}`;
}

function files(amount: HeadlineAmount | null): string {
  const changed = `${number(amount?.count ?? 1)} 个文件`;
  if (amount?.added === undefined || amount.removed === undefined) return changed;
  return `${changed}：+${number(amount.added)} −${number(amount.removed)} 行`;
}

export const verbs: Record<string, (headline: Headline) => string> = {
  insert_rows: ({ amount }) => `插入 ${rows(amount)}`,
  upsert_rows: ({ amount }) => `插入或覆盖 ${rows(amount)}`,
  update_rows: ({ amount }) => `修改 ${rows(amount)}`,
  delete_rows: ({ amount }) => `删除 ${rows(amount)}`,
  drop_table: () => "删除一张表",
  create_table: () => "新建一张表",
  alter_table: () => "修改一张表的结构",
  change_tables: () => "修改数据库结构",
  query_database: () => "读取数据库",
  run_command: ({ amount }) => `运行 ${number(amount?.count ?? 1)} 条命令`,
  run_script: ({ amount }) => (amount?.count === undefined ? "运行一段 shell 脚本" : `运行 ${number(amount.count)} 条 shell 命令`),
  send_request: ({ amount }) => `发送 ${amount?.method ?? "网络"} 请求`,
  edit_files: ({ amount }) => `修改 ${files(amount)}`,
  deploy: () => "部署一个项目",
  call_tool: () => "调用工具，效果未知",
  carry_out: () => "由你亲自完成",
  choose_one: ({ amount }) => `从 ${number(amount?.count ?? 0)} 项中选一项`,
  choose_many: ({ amount }) => `从 ${number(amount?.count ?? 0)} 项中选若干项`,
  fill_form: ({ amount }) => `填写 ${number(amount?.count ?? 0)} 个字段`,
  answer_question: () => "回答一个问题",
  go_on: ({ amount }) => `让运行继续：${budget(amount)}`,
  permit: () => "给予许可，效果未知",
};

/** 目标前的词。 */
export const roles: Record<string, string> = {
  table: "表",
  database: "数据库",
  host: "主机",
  path: "路径",
  directory: "目录",
  file: "文件",
  user: "用户",
  program: "程序",
  tool: "工具",
  server: "经由",
  project: "项目",
  platform: "至",
  argument: "",
};

export const tableWords: Record<string, string> = {};
