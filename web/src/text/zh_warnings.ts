// Warnings of the server in Chinese, worded from their codes and values. In English the page shows the sentence that the server sent,
// and so it does for a code that it does not know.

import type { ForeignText, WarningValues } from "../wire";
import { reasonInChinese } from "./zh_phrases";

/** Words of ours, and foreign text between them. */
export type Piece = string | ForeignText;

export function warningInChinese(code: string, values: WarningValues): Piece[] | null {
  const pieces = wording(code, values);
  // Without a value the sentence would say something else.
  return pieces === null || pieces.includes(undefined) ? null : (pieces as Piece[]);
}

function wording(code: string, v: WarningValues): (Piece | undefined)[] | null {
  switch (code) {
    case "no_where":
      return ["没有 WHERE 条件：涉及 `", v.table, "` 的所有行"];
    case "more_rows":
      return ["另有 ", number(v.rows), " 行会因触发器和外键而改变"];
    case "estimated_rows_triggers":
      return ["行数是估计值：该表有触发器，预览时没有触发"];
    case "estimated_rows_rules":
      return ["行数是估计值：这是视图，或带有规则，预览时没有展开"];
    case "wrapper_script":
      return ["`", v.program, "` 会运行一段脚本：请通读全文，批准的就是它"];
    case "wrapper_elsewhere":
      return ["`", v.program, "` 会在别处运行命令，那里的规则可能与这里不同"];
    case "wrapper_another_user":
      return ["`", v.program, "` 会以另一用户的权限运行命令"];
    case "wrapper_findings":
      return ["`", v.program, "` 会对它找到或读到的内容运行命令，这些内容没有显示在这里"];
    case "wrapper_command":
      return ["`", v.program, "` 会运行它后面的命令"];
    case "not_bound":
      return ["未绑定：`", v.word, "` 的含义到运行时才知道，因此它指向的脚本没有经过核对"];
    case "new_definition":
      return ["首次连接该服务器时还没有这个工具；批准此调用即接受新的定义"];
    case "changed_definition":
      return ["服务器更改了对这个工具的说明；批准此调用即接受新的定义"];
    case "no_preview":
      return ["无法预览：", ...(reasonInChinese(v.phrases ?? []) ?? [v.why])];
    case "secret_given":
      return ["工具 `", v.tool, "` 将得到机密 `", v.secret, "`（用于 `", v.place, "`）：由 `", v.by, "` 于 ", v.at, " 在 `", v.field, "` 中提供"];
    case "denied_before_same":
      return ["与 `", v.by, "` 在", ago(v.minutes_ago), "拒绝过的一次调用相同", ...reason(v)];
    case "denied_before_similar":
      return ["与 `", v.by, "` 在", ago(v.minutes_ago), "拒绝过的一次调用相似", ...reason(v)];
    case "stricter_policy":
      return ["提出此问题之后策略已改变，现在的要求：", ...askedByRule(v)];
    case "tool_changed":
      return ["提出此调用之后，工具已改变"];
    case "policy_asks_now":
      return ["策略已改变，现在须询问此调用"];
    case "grant_ended":
      return ["先前的长期授权已失效"];
    case "approval_missing":
      return ["找不到先前的批准"];
    case "approval_void":
      return ["先前的批准不成立"];
    case "other_call_approved":
      return ["先前批准的不是此调用"];
    case "approvers_not_entitled":
      return ["先前的批准者已无权批准"];
    case "outcome_unknown":
      return ["没有人知道此调用是否已执行。它没有再次运行。"];
    case "earlier_attempt":
      return ["先前的一次尝试被中断，有人要求再次提出此调用。请先确认它没有发生过。"];
    case "look_alike": {
      const scripts = v.scripts?.map((name) => SCRIPTS[name] ?? name);
      if (scripts?.length === 1) return ["`", v.word, "` 看似拉丁字母，实为", scripts[0]];
      return ["`", v.word, "` 混用了不同的字母：", scripts?.join("、")];
    }
    default:
      return null;
  }
}

const SCRIPTS: Record<string, string> = {
  Latin: "拉丁字母",
  Greek: "希腊字母",
  Cyrillic: "西里尔字母",
  Armenian: "亚美尼亚字母",
  Cherokee: "切罗基字母",
  Coptic: "科普特字母",
  fullwidth: "全角字母",
  ornamental: "装饰字母",
};

const number = (value: number | undefined): string | undefined => value?.toString();

function ago(minutes: number | undefined): string | undefined {
  if (minutes === undefined) return undefined;
  if (minutes === 0) return "不到一分钟前";
  if (minutes < 60) return ` ${minutes} 分钟前`;
  if (minutes < 1440) return ` ${Math.floor(minutes / 60)} 小时前`;
  return ` ${Math.floor(minutes / 1440)} 天前`;
}

function reason(v: WarningValues): (Piece | undefined)[] {
  return v.reason === null ? [] : ["：“", v.reason, "”"];
}

function askedByRule(v: WarningValues): (Piece | undefined)[] {
  if (v.roles === undefined || v.people === undefined || v.quorum === undefined || v.line === undefined) return [undefined];
  const names: Piece[][] = [...v.roles.map((role) => ["角色 `", role, "`"]), ...v.people.map((person) => ["`", person, "`"])];
  const whom = names.length === 0 ? ["请求者或管理员"] : names.flatMap((name, at) => (at > 0 ? [" 或 ", ...name] : name));
  const pieces: (Piece | undefined)[] = ["询问 ", ...whom];
  if (v.quorum > 1) pieces.push(`，需 ${v.quorum} 人同意`);
  if (v.exclude_requester) pieces.push("，请求者除外");
  if (v.refuse_made_logins) pieces.push("，且登录不得由他人生成");
  if (v.rule === null) return [...pieces, "（默认：没有规则作出决定）"];
  return [...pieces, "（规则 `", v.rule, "`", v.line > 0 ? `，第 ${v.line} 行` : "", v.in_doubt ? "，存疑：无法判断" : "", "）"];
}
