// What the rules say about a call that nobody has made yet, and why; and what they would have done with the calls of last month.

import { useState } from "preact/hooks";
import * as api from "../api";
import { Button, Field, Pill, RiskTag } from "../components";
import { Chip, Quoted } from "../foreign";
import { Refusal } from "../holds/refusal";
import { t } from "../i18n";
import { holdPath } from "../route";
import type { PolicyExplained, PolicyReplay, RulingChange } from "../wire";

const TONES = { allow: "ok", ask: "hold", deny: "no" } as const;

export function Policy() {
  return (
    <>
      <Explain />
      <Replay />
    </>
  );
}

function Explain() {
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

const DAYS = 30;

/** After a change of the rules: what would have gone otherwise. */
function Replay() {
  const [replay, setReplay] = useState<PolicyReplay | "busy" | null>(null);
  const [refused, setRefused] = useState<api.Refused | null>(null);
  const look = () => {
    setReplay("busy");
    setRefused(null);
    api.replayPolicy(DAYS).then(setReplay, (problem: unknown) => {
      setReplay(null);
      if (problem instanceof api.Refused) setRefused(problem);
    });
  };
  const done = replay === "busy" ? null : replay;
  return (
    <section class="admin-panel" aria-label={t("replay.title")}>
      <header>
        <h2>{t("replay.title")}</h2>
        <Button small disabled={replay === "busy"} onClick={look}>
          {t(replay === "busy" ? "history.loading" : "replay.go")}
        </Button>
      </header>
      {refused ? <Refusal problem={refused} /> : null}
      <p class="admin-note" role="status" data-testid="replay">
        {done === null ? (
          <span class="muted">{t("replay.note", { days: DAYS })}</span>
        ) : (
          <>
            {t(done.changes.length === 0 ? "replay.same" : "replay.sum", { n: done.calls, same: done.same, other: done.calls - done.same })} {done.complete ? "" : t("figures.incomplete")}
          </>
        )}
      </p>
      {done && done.changes.length > 0 ? (
        <table class="table stacks">
          <thead>
            <tr>
              <th scope="col">{t("view.label.tool")}</th>
              <th scope="col">{t("replay.then")}</th>
              <th scope="col">{t("replay.now")}</th>
              <th scope="col">{t("hold.rule")}</th>
              <th scope="col">{t("replay.calls")}</th>
            </tr>
          </thead>
          <tbody>
            {done.changes.map((change, at) => (
              <ChangeRow key={at} change={change} />
            ))}
          </tbody>
        </table>
      ) : null}
    </section>
  );
}

function ChangeRow({ change }: { change: RulingChange }) {
  return (
    <tr data-change={`${change.from}-${change.to}`}>
      <td>
        <Chip text={change.tool} />
      </td>
      <td data-label={t("replay.then")}>
        <Pill tone={TONES[change.from]}>{t(`policy.${change.from}`)}</Pill>
      </td>
      <td data-label={t("replay.now")}>
        <Pill tone={TONES[change.to]}>{t(`policy.${change.to}`)}</Pill>
      </td>
      <td data-label={t("hold.rule")}>{change.rule ? <Chip text={change.rule} /> : t("policy.no_rule")}</td>
      <td data-label={t("replay.calls")}>
        {change.count} {change.example ? <a href={holdPath(change.example)}>{t("replay.example")}</a> : null}
      </td>
    </tr>
  );
}
