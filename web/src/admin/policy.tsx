// What the rules say about a call that nobody has made yet, and why.

import { useState } from "preact/hooks";
import * as api from "../api";
import { Button, Field, Pill, RiskTag } from "../components";
import { Chip, Quoted } from "../foreign";
import { Refusal } from "../holds/refusal";
import { t } from "../i18n";
import type { PolicyExplained } from "../wire";

const TONES = { allow: "ok", ask: "hold", deny: "no" } as const;

export function Policy() {
  const [tool, setTool] = useState("");
  const [args, setArgs] = useState("{}");
  const [wrong, setWrong] = useState<string | null>(null);
  const [explained, setExplained] = useState<PolicyExplained | null>(null);
  const [refused, setRefused] = useState<api.Refused | null>(null);
  const ask = (event: Event) => {
    event.preventDefault();
    setRefused(null);
    try {
      JSON.parse(args);
    } catch (error) {
      return setWrong(t("approve.edit.not_json", { error: String(error) }));
    }
    setWrong(null);
    // As typed: a parse and a write here would round large numbers.
    api.explainPolicy(`{"tool":${JSON.stringify(tool.trim())},"arguments":${args}}`).then(setExplained, (problem: unknown) => problem instanceof api.Refused && setRefused(problem));
  };
  return (
    <section class="admin-panel" aria-label={t("policy.title")}>
      <header>
        <h2>{t("policy.title")}</h2>
      </header>
      <form class="policy-form" onSubmit={ask}>
        <Field label={t("view.label.tool")}>
          <input name="tool" autocomplete="off" autocapitalize="none" value={tool} onInput={(event) => setTool(event.currentTarget.value)} />
        </Field>
        <Field label={t("approve.edit.label")} error={wrong}>
          <textarea class="code" name="arguments" rows={4} spellcheck={false} value={args} onInput={(event) => setArgs(event.currentTarget.value)} />
        </Field>
        <div class="actions">
          <Button submit kind="primary" disabled={tool.trim() === ""}>
            {t("policy.explain")}
          </Button>
        </div>
        {refused ? <Refusal problem={refused} /> : null}
      </form>
      {explained ? (
        <div class="policy-form" data-testid="explained" data-decision={explained.decision} role="status">
          <p class="bulk-call">
            <Pill tone={TONES[explained.decision]}>{t(`policy.${explained.decision}`)}</Pill> <RiskTag risk={explained.risk} />
            {explained.rule ? <Chip text={explained.rule} /> : <span class="muted">{t("policy.no_rule")}</span>}
          </p>
          {explained.known_tool ? null : <p class="note">{t("policy.unknown_tool")}</p>}
          <Quoted text={explained.why.join("\n")} />
        </div>
      ) : null}
    </section>
  );
}
