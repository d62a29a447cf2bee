// May this call run, or this run go on? Once, for the session, edited, replied to instead, or not at all.

import { useContext, useState } from "preact/hooks";
import * as api from "../api";
import { ArmButton, Kbd } from "../components";
import { FoldsOf } from "../foreign";
import { Icon } from "../icons";
import { useKey } from "../keys";
import { language, t } from "../i18n";
import { live } from "../live";
import { useMe } from "../who";
import type { AnswerProps } from "./answer";
import { Bar } from "./bar";
import { Confirm, needsWord, wordMatches } from "./confirm";
import { DenyPanel } from "./deny";
import { EditAnswer } from "./edit";
import { lower, verbOf } from "./headline";
import { Panel } from "./panel";
import { longTexts } from "./parts";
import { asksToGoOn } from "../wire";

type Mode = "none" | "more" | "session" | "edit" | "respond" | "deny";

export function ApproveAnswer(props: AnswerProps) {
  const { hold, answering, calm, keys } = props;
  const [mode, setMode] = useState<Mode>("none");
  const [typed, setTyped] = useState("");
  const back = () => setMode("none");
  // Without the exact text nobody can know what they would approve.
  const blind = !hold.view?.parts;
  const { opened } = useContext(FoldsOf);
  // Nobody approves what they have not had before their eyes. A denial never waits.
  const unread = longTexts(hold).some((key) => !opened.has(key));
  const goOn = asksToGoOn(hold);
  const off = answering.busy;
  const ready = calm && !off;
  const closed = mode === "none" || mode === "more";
  const canEdit = hold.call !== null && !blind && !unread;
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
  const note = blind ? t("hold.no_view") : unread ? t("approve.unread") : undefined;
  return (
    <Bar
      note={note ? <span class="unread">{note}</span> : undefined}
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
  const mine = now.claimed_by === useMe().id;
  const claim = () => {
    choose("none");
    // Whatever came of it, the truth is on the server.
    api.claim(hold.id, !mine).then((claimed) => live.put(claimed), () => void live.read(hold.id));
  };
  return (
    <div class="more-menu">
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
      <button type="button" onClick={() => choose("respond")}>
        {t("approve.respond")}
      </button>
      <button type="button" data-claim={!mine} onClick={claim}>
        {t(mine ? "claim.off" : "claim.on")}
      </button>
    </div>
  );
}

type PanelProps = AnswerProps & { back: () => void };

function SessionPanel({ hold, answering, back }: PanelProps) {
  return (
    <Panel off={answering.busy} back={back} submit={() => answering.send({ verdict: "approve", scope: "session" })} label={t("approve.session")}>
      <p>
        <b>{verbOf(hold)}.</b> {t("approve.session.covers")}
      </p>
    </Panel>
  );
}

function RespondPanel({ answering, back }: PanelProps) {
  const [text, setText] = useState("");
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
