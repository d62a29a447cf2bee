// What the server said when it did not take an answer, told as it is: who was first, what changed, what is wrong. The sentence is
// always ours. What the server adds may quote a tool or whoever asked, so it stands on sand like everything of theirs.

import { Refused } from "../api";
import { Chip, Quoted } from "../foreign";
import { Icon } from "../icons";
import { t } from "../i18n";
import { clock } from "../time";
import { nameOf, useMe } from "../who";
import type { FieldFault, Me, Said } from "../wire";
import { faultText } from "./fault";

export function refusalText(problem: Refused, me: Me): string {
  switch (problem.code) {
    case "hold_already_decided": {
      const decision = problem.body.decision;
      const name = nameOf(decision, me);
      if (!decision || !name) return t("refused.decided.plain");
      return t("refused.decided", { name, what: whatSaid(decision), at: clock(decision.at) });
    }
    case "already_voted":
      return t("refused.voted");
    case "version_conflict":
      return t("refused.changed");
    case "hold_expired":
      return t("refused.expired");
    case "not_entitled":
      return t("refused.entitled");
    case "not_found":
      return t("refused.not_found");
    case "answer_invalid":
      return t("refused.invalid");
    case "frozen":
      return t("refused.frozen");
    case "holds_open":
      return t("refused.holds_open");
    case "too_many":
      return t("refused.too_many");
    case "too_large":
      return t("refused.too_large");
    case "unavailable":
      return t("refused.unavailable");
    case "unreachable":
      return t("refused.unreachable");
    default:
      return problem.undecided ? t("refused.unavailable") : t("refused.other");
  }
}

export function whatSaid(said: Said): string {
  if (said.verdict === "approve") return t("vote.approve");
  if (said.verdict === "deny") return t("vote.deny");
  return t("vote.answer");
}

export function Refusal({ problem }: { problem: Refused }) {
  const me = useMe();
  return (
    <div class="refusal" role="alert" data-code={problem.code}>
      <Icon name="warning" />
      <div>
        {refusalText(problem, me)}
        <Detail problem={problem} />
      </div>
    </div>
  );
}

const TOLD_WHOLE = new Set(["hold_already_decided", "already_voted", "version_conflict", "hold_expired", "not_entitled", "not_found", "holds_open", "too_many", "too_large", "unavailable", "unreachable"]);

/** What our sentence does not say already. */
function Detail({ problem }: { problem: Refused }) {
  const { faults, detail } = problem.body;
  if (faults?.length) {
    return (
      <ul>
        {faults.map((fault, at) => (
          <li key={at}>
            <FieldWay fault={fault} /> {faultText(fault)}
          </li>
        ))}
      </ul>
    );
  }
  return detail && !problem.undecided && !TOLD_WHOLE.has(problem.code) ? <Quoted text={detail} prose /> : null;
}

/** The field's own name is the asker's. */
function FieldWay({ fault }: { fault: FieldFault }) {
  const way = fault.field.replace(/^(fill|arguments)\/?/, "");
  return way === "" ? null : <Chip text={way.replace(/~1/g, "/").replace(/~0/g, "~")} />;
}
