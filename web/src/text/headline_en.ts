// Verb and amount of a card, in English. Everything here is ours: numbers and codes of the server, and no foreign word.

import type { Headline, HeadlineAmount } from "../wire";

const number = (n: number): string => n.toLocaleString("en-US");
const many = (n: number, one: string, more: string): string => `${number(n)} ${n === 1 ? one : more}`;

function rows(amount: HeadlineAmount | null): string {
  if (amount?.count === undefined) return "rows";
  return `${amount.estimated ? "about " : ""}${amount.was === undefined ? "" : `${number(amount.was)} → `}${many(amount.count, "row", "rows")}`;
}

function budget(amount: HeadlineAmount | null): string {
  const { count = 0, limit = 0, unit } = amount ?? { unit: "turns" };
  if (unit === "money") return `${number(count / 1e6)} of ${number(limit / 1e6)} of money used`;
  if (unit === "time") return `${number(Math.round(count / 1000))} of ${number(Math.round(limit / 1000))} s used`;
  return `${number(count)} of ${number(limit)} ${unit} used`;
}

function files(amount: HeadlineAmount | null): string {
  const changed = many(amount?.count ?? 1, "file", "files");
  if (amount?.added === undefined || amount.removed === undefined) return changed;
  return `${changed}: +${number(amount.added)} −${number(amount.removed)} lines`;
}

export const verbs: Record<string, (headline: Headline) => string> = {
  insert_rows: ({ amount }) => `Insert ${rows(amount)}`,
  upsert_rows: ({ amount }) => `Insert or overwrite ${rows(amount)}`,
  update_rows: ({ amount }) => `Change ${rows(amount)}`,
  delete_rows: ({ amount }) => `Delete ${rows(amount)}`,
  drop_table: () => "Drop a table",
  create_table: () => "Create a table",
  alter_table: () => "Alter a table",
  change_tables: () => "Change the structure of a database",
  query_database: () => "Read from a database",
  run_command: ({ amount }) => `Run ${many(amount?.count ?? 1, "command", "commands")}`,
  run_script: ({ amount }) => (amount?.count === undefined ? "Run a shell script" : `Run ${many(amount.count, "shell command", "shell commands")}`),
  send_request: ({ amount }) => `Send a ${amount?.method ?? "web"} request`,
  edit_files: ({ amount }) => `Change ${files(amount)}`,
  deploy: () => "Deploy a project",
  call_tool: () => "Call a tool, effect unknown",
  carry_out: () => "Do this yourself",
  choose_one: ({ amount }) => `Choose one of ${number(amount?.count ?? 0)}`,
  choose_many: ({ amount }) => `Choose any of ${number(amount?.count ?? 0)}`,
  fill_form: ({ amount }) => `Fill in ${many(amount?.count ?? 0, "field", "fields")}`,
  answer_question: () => "Answer a question",
  go_on: ({ amount }) => `Let the run go on: ${budget(amount)}`,
  permit: () => "Give leave, effect unknown",
};

/** The word before a target. */
export const roles: Record<string, string> = {
  table: "",
  database: "in",
  host: "at",
  path: "",
  directory: "in",
  file: "",
  user: "as",
  program: "",
  tool: "",
  server: "through",
  project: "",
  platform: "to",
  argument: "",
};

/** Before the table, by what is done to it. */
export const tableWords: Record<string, string> = {
  insert_rows: "into",
  upsert_rows: "into",
  update_rows: "in",
  delete_rows: "from",
  query_database: "from",
};
