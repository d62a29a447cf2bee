// May this call run, or this run go on? Once, for the session, edited, replied to instead, or not at all.

import { useState } from "preact/hooks";
import { ArmButton, Kbd, Segments } from "../components";
import { useDraft } from "../drafts";
import { showFold } from "../folding";
import { Icon } from "../icons";
import { useKey } from "../keys";
import { language, t } from "../i18n";
import type { AnswerProps } from "./answer";
import { Bar } from "./bar";
import { Confirm, needsWord, wordMatches } from "./confirm";
import { DenyPanel } from "./deny";
import { EditAnswer } from "./edit";
import { useUnread } from "./folds";
import { lower, verbOf } from "./headline";
import { HoldMenu } from "./menu";
import { Panel } from "./panel";
import { cardOf, UnreadNote } from "./unread";
import { asksToGoOn } from "../wire";

type Mode = "none" | "more" | "session" | "edit" | "respond" | "deny";

export function ApproveAnswer(props: AnswerProps) {
  const { hold, answering, calm, keys } = props;
  const [mode, setMode] = useState<Mode>("none");
  const [typed, setTyped] = useState("");
  const back = () => setMode("none");
  // Without the exact text nobody can know what they would approve.
  const blind = !hold.view?.parts;
  // An approval waits until everything that is folded was opened. A denial never waits.
  const unread = useUnread(hold);
  const goOn = asksToGoOn(hold);
  const off = answering.busy;
  const ready = calm && !off;
  const closed = mode === "none" || mode === "more";
  const canEdit = hold.call !== null && !blind && !unread;
  // The button is off then, and the key leads to what it waits for.
  useKey("a", keys && ready && closed && unread && !blind ? () => showFold(cardOf(hold.id)) : null);
  useKey("d", keys && ready && closed ? () => setMode("deny") : null);
  useKey("e", keys && ready && closed && canEdit ? () => setMode("edit") : null);
  useKey("r", keys && ready && closed && !goOn ? () => setMode("respond") : null);
  useKey("Escape", keys && mode === "more" ? back : null);

  if (mode === "edit") return <EditAnswer {...props} back={back} />;
  if (mode === "deny") return <Bar above={<DenyPanel {...props} back={back} />} />;
  if (mode === "respond") return <Bar above={<RespondPanel {...props} back={back} />} />;
  if (mode === "session") return <Bar above={<SessionPanel {...props} back={back} />} />;

  const critical = needsWord(hold);
  const label = answering.busy ? t("answer.sending") : critical && !goOn ? verbOf(hold) : approveLabel(props);
  const note = blind ? <span class="unread">{t("hold.no_view")}</span> : unread ? <UnreadNote within={() => cardOf(hold.id)} /> : undefined;
  return (
    <Bar
      note={note}
      above={
        mode === "more" ? (
          <MoreMenu {...props} canEdit={canEdit} canApprove={!blind && !unread} goOn={goOn} choose={setMode} />
        ) : critical && !blind ? (
          <Confirm hold={hold} typed={typed} setTyped={setTyped} off={off || unread} />
        ) : undefined
      }
    >
      {blind ? null : (
        <ArmButton
          label={label}
          does={lower(verbOf(hold))}
          keys={keys}
          off={off || unread || !wordMatches(hold, typed)}
          calm={calm}
          kind={critical ? "danger-solid" : "primary"}
          press={() => answering.send({ verdict: "approve", scope: "once" })}
        />
      )}
      <button type="button" class={`danger${calm ? "" : " settling"}`} disabled={!ready} aria-keyshortcuts={keys ? "d" : undefined} onClick={() => setMode("deny")}>
        {t(goOn ? "deny.go_on.open" : "deny.open")}
        {keys ? <Kbd>d</Kbd> : null}
      </button>
      {canEdit ? (
        <button type="button" class={`bar-desk${calm ? "" : " settling"}`} disabled={!ready} aria-keyshortcuts={keys ? "e" : undefined} onClick={() => setMode("edit")}>
          {t("approve.edit")}
          {keys ? <Kbd>e</Kbd> : null}
        </button>
      ) : null}
      {goOn ? null : (
        <button type="button" class={`bar-more${calm ? "" : " settling"}`} disabled={!ready} aria-expanded={mode === "more"} aria-label={t("approve.more", { what: t("approve.session") })} onClick={() => setMode(mode === "more" ? "none" : "more")}>
          <Icon name="more" />
        </button>
      )}
    </Bar>
  );
}

/** "Approve once", or which of several approvals this one is. */
function approveLabel({ hold }: AnswerProps): string {
  if (asksToGoOn(hold)) return t("approve.go_on");
  const need = hold.audience?.quorum ?? 1;
  if (need < 2) return t("approve.once");
  const nth = (hold.answers ?? []).filter((said) => said.verdict === "approve").length + 1;
  return t("approve.nth", { nth: language() === "zh" ? nth : ordinal(nth), need });
}

function ordinal(n: number): string {
  const ends: Record<string, string> = { one: "st", two: "nd", few: "rd" };
  return `${n}${ends[new Intl.PluralRules("en", { type: "ordinal" }).select(n)] ?? "th"}`;
}

interface MenuProps extends AnswerProps {
  canEdit: boolean;
  canApprove: boolean;
  goOn: boolean;
  choose: (mode: Mode) => void;
}

function MoreMenu({ hold, now, canEdit, canApprove, goOn, choose }: MenuProps) {
  return (
    <HoldMenu hold={hold} now={now} close={() => choose("none")}>
      {hold.session && !goOn && canApprove && !needsWord(hold) ? (
        <button type="button" onClick={() => choose("session")}>
          {t("approve.session")}…
        </button>
      ) : null}
      {canEdit ? (
        <button type="button" class="bar-phone" onClick={() => choose("edit")}>
          {t("approve.edit")}
        </button>
      ) : null}
      {goOn ? null : (
        <button type="button" onClick={() => choose("respond")}>
          {t("approve.respond")}
        </button>
      )}
    </HoldMenu>
  );
}

type PanelProps = AnswerProps & { back: () => void };

// The longest and the most that the server gives without being asked for less.
const GRANT_HOURS = ["1", "8", "24"] as const;
const GRANT_USES = ["5", "20", "100"] as const;

function SessionPanel({ hold, answering, back }: PanelProps) {
  const [hours, setHours] = useState<(typeof GRANT_HOURS)[number]>("1");
  const [uses, setUses] = useState<(typeof GRANT_USES)[number]>("20");
  const unread = useUnread(hold);
  const submit = () => answering.send({ verdict: "approve", scope: "session", grant: { expires_in_s: Number(hours) * 3600, uses: Number(uses) } });
  return (
    <Panel off={answering.busy} back={back} submit={submit} label={t("approve.session")} ready={!unread}>
      <p>
        <b>{verbOf(hold)}.</b> {t("approve.session.covers")}
      </p>
      <div class="grant-terms">
        <span aria-hidden="true">{t("approve.session.for")}</span>
        <Segments name={`hours-${hold.id}`} label={t("approve.session.for")} value={hours} options={GRANT_HOURS.map((id) => ({ id, label: id === "1" ? t("approve.session.hour") : t("approve.session.hours", { n: id }) }))} choose={setHours} />
        <span aria-hidden="true">{t("approve.session.uses")}</span>
        <Segments name={`uses-${hold.id}`} label={t("approve.session.uses")} value={uses} options={GRANT_USES.map((id) => ({ id, label: t("approve.session.times", { n: id }) }))} choose={setUses} />
      </div>
    </Panel>
  );
}

function RespondPanel({ hold, answering, back }: PanelProps) {
  const [text, setText] = useDraft(hold.id, "reply");
  const [error, setError] = useState(false);
  const submit = () => {
    if (text.trim() === "") return setError(true);
    answering.send({ verdict: "respond", content: text });
  };
  return (
    <Panel off={answering.busy} back={back} submit={submit} label={t("approve.respond.submit")}>
      <label class="field">
        <span>{t("approve.respond.label")}</span>
        <textarea rows={3} value={text} aria-invalid={error} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      {error ? (
        <p class="field-error" role="alert">
          {t("fill.missing")}
        </p>
      ) : null}
      <p class="muted">{t("approve.respond.note")}</p>
    </Panel>
  );
}
