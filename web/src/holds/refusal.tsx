// What the server said when it did not take an answer, told as it is: who was first, what changed, what is wrong.

import { Refused } from "../api";
import { Icon } from "../icons";
import { t } from "../i18n";
import { clock } from "../time";
import { nameOf, useMe } from "../who";
import type { Me, Said } from "../wire";

export function refusalText(problem: Refused, me: Me): string {
  const detail = problem.message;
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
      return t("refused.invalid", { detail });
    case "frozen":
      return t("refused.frozen", { detail });
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
      return problem.undecided ? t("refused.unavailable") : t("refused.other", { detail });
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
    <p class="refusal" role="alert" data-code={problem.code}>
      <Icon name="warning" />
      <span>{refusalText(problem, me)}</span>
    </p>
  );
}
