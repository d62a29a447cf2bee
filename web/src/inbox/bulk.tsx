// Several decisions at once, never from the list itself: a sheet shows every call, its effect and its digest, and each gets its
// own answer, result and record. Critical calls and questions are decided one by one. What is folded must be opened here, as on a card.

import { useState } from "preact/hooks";
import * as api from "../api";
import { useCalm } from "../calm";
import { Button, Field, Pill, RiskShape, Sheet } from "../components";
import { Refusal } from "../holds/refusal";
import { foldsOf } from "../holds/folds";
import { UnreadNote } from "../holds/unread";
import { Icon } from "../icons";
import { t, word } from "../i18n";
import { useKey } from "../keys";
import { live, useLive } from "../live";
import { Chip } from "../foreign";
import { waitsForMe } from "../who";
import type { Hold, JsonObject, Me } from "../wire";
import { WholeCall } from "./bulk_call";
import { askerOf } from "./filter";
import { RowHeadline } from "./headline";
import { shortDigest } from "./row";

/** Whether a hold may be decided together with others. */
export function isBulkable(hold: Hold, me: Me): boolean {
  return waitsForMe(hold, me) && hold.kind === "approve" && hold.risk !== "critical" && hold.view?.parts !== undefined;
}

export type BulkVerdict = "approve" | "deny";

interface BarProps {
  count: number;
  off: boolean;
  review: (verdict: BulkVerdict) => void;
  clear: () => void;
}

export function BulkBar({ count, off, review, clear }: BarProps) {
  useKey("b", off ? null : () => review("approve"));
  return (
    <div class="bulk" role="group" aria-label={t("bulk.selected", { n: count })}>
      <b class="grow">{t("bulk.selected", { n: count })}</b>
      <Button class="bulk-go" disabled={off} hotkey="b" onClick={() => review("approve")}>
        {t("bulk.review", { n: count })}
      </Button>
      <Button disabled={off} onClick={() => review("deny")}>
        {t("deny.open")}
      </Button>
      <Button aria-label={t("bulk.clear")} onClick={clear}>
        <Icon name="denied" />
      </Button>
    </div>
  );
}

type Result = { is: "waiting" } | { is: "done"; hold: Hold } | { is: "refused"; problem: api.Refused };

// So many answers under way at once: quick, and no burst that the server would turn away.
const AT_ONCE = 4;
const NOTHING: ReadonlySet<string> = new Set();

interface SheetProps {
  verdict: BulkVerdict;
  /** As they were when the sheet opened: their digests are what is answered. */
  holds: Hold[];
  close: () => void;
}

export function BulkSheet({ verdict, holds, close }: SheetProps) {
  const current = useLive();
  const [out, setOut] = useState<ReadonlySet<string>>(new Set());
  const [results, setResults] = useState<ReadonlyMap<string, Result>>(new Map());
  const [typed, setTyped] = useState("");
  const [reason, setReason] = useState("");
  const calm = useCalm(holds.map((hold) => hold.digest).join());
  // By hold; the calls themselves stay as they were when the sheet opened.
  const [opened, setOpened] = useState<ReadonlyMap<string, ReadonlySet<string>>>(new Map());
  const openedOf = (hold: Hold): ReadonlySet<string> => opened.get(hold.id) ?? NOTHING;
  const sent = results.size > 0;
  const changed = (hold: Hold) => {
    const now = current.known(hold.id);
    return typeof now === "string" || now.state !== "pending" || now.digest !== hold.digest;
  };
  const chosen = holds.filter((hold) => !out.has(hold.id) && (sent || !changed(hold)));
  const grave = verdict === "approve" && chosen.some((hold) => hold.risk !== "low" && hold.risk !== "medium");
  // A denial never waits.
  const unread = verdict === "approve" && chosen.find((hold) => foldsOf(hold).some((fold) => !openedOf(hold).has(fold)));
  const ready = calm && !sent && !current.offline && chosen.length > 0 && !unread && (!grave || typed.trim() === String(chosen.length));
  const ended = sent && [...results.values()].every((result) => result.is !== "waiting");

  const send = async () => {
    if (!ready) return;
    const answer: JsonObject = verdict === "approve" ? { verdict, scope: "once" } : { verdict };
    if (verdict === "deny" && reason.trim() !== "") answer["reason"] = reason.trim();
    const left = [...chosen];
    setResults(new Map(left.map((hold) => [hold.id, { is: "waiting" }])));
    const note = (id: string, result: Result) => setResults((now) => new Map([...now, [id, result]]));
    const work = async () => {
      for (let hold = left.shift(); hold; hold = left.shift()) {
        try {
          const after = await api.answerOneOfMany(hold.id, hold.digest, JSON.stringify(answer), api.newKey());
          live.put(after);
          note(hold.id, { is: "done", hold: after });
        } catch (problem) {
          if (!(problem instanceof api.Refused)) throw problem;
          note(hold.id, { is: "refused", problem });
          void live.read(hold.id);
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  };

  const toggle = (id: string) => {
    const after = new Set(out);
    after.has(id) ? after.delete(id) : after.add(id);
    setOut(after);
  };
  const n = chosen.length;
  const done = [...results.values()].filter((result) => result.is === "done").length;
  return (
    <Sheet
      name="bulk"
      title={ended ? t("bulk.result", { done, n: results.size }) : t(`bulk.title.${verdict}`, { n })}
      close={close}
      footer={
        ended ? (
          <Button kind="primary" onClick={close}>
            {t("app.close")}
          </Button>
        ) : (
          <>
            <Button kind={verdict === "approve" ? "primary" : "danger-solid"} class={calm ? "" : "settling"} disabled={!ready} data-bulk-send onClick={() => void send()}>
              {sent ? t("answer.sending") : t(`bulk.submit.${verdict}`, { n })}
            </Button>
            <Button onClick={close}>{t("answer.cancel")}</Button>
            <span class="hint grow">{unread && !sent ? <UnreadNote text={t("bulk.unread")} within={() => document.querySelector(`[data-bulk="${CSS.escape(unread.id)}"]`)} /> : t("bulk.note")}</span>
          </>
        )
      }
    >
      <p class="muted">{t(`bulk.what.${verdict}`)}</p>
      <div class="bulk-rows" tabIndex={0} role="region" aria-label={t("bulk.calls")}>
        <table class="table stacks">
          <thead>
            <tr>
              <th scope="col">
                <span class="sr">{t("inbox.select", { tag: "" })}</span>
              </th>
              <th scope="col">{t("bulk.call")}</th>
              <th scope="col">{t("bulk.effect")}</th>
              <th scope="col">{t("hold.digest")}</th>
              <th scope="col">{t("bulk.outcome")}</th>
            </tr>
          </thead>
          <tbody>
            {holds.map((hold) => (
              <tr key={hold.id} data-bulk={hold.id} data-result={results.get(hold.id)?.is}>
                <td>
                  <input type="checkbox" checked={chosen.includes(hold)} disabled={sent || changed(hold)} aria-label={t("inbox.select", { tag: hold.tag })} onChange={() => toggle(hold.id)} />
                </td>
                <td>
                  <span class="bulk-call">
                    <RiskShape risk={hold.risk} />
                    <RowHeadline hold={hold} />
                  </span>
                  {/* The headline is short; what is approved here is this. */}
                  <WholeCall hold={hold} opened={openedOf(hold)} open={(fold) => setOpened(new Map([...opened, [hold.id, new Set([...openedOf(hold), fold])]]))} />
                  {askerOf(hold) ? (
                    <small class="muted">
                      {hold.tag} · <Chip text={askerOf(hold) ?? ""} />
                    </small>
                  ) : null}
                </td>
                <td data-label={t("bulk.effect")}>
                  <Effect hold={hold} />
                </td>
                <td data-label={t("hold.digest")}>
                  <code title={hold.digest}>{shortDigest(hold.digest)}</code>
                </td>
                <td>
                  <ResultCell result={results.get(hold.id)} changed={!sent && changed(hold)} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {verdict === "deny" && !sent ? (
        <Field label={t("deny.reason")}>
          <textarea name="reason" rows={2} value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
        </Field>
      ) : null}
      {grave && !sent ? (
        <Field label={t("bulk.type", { n })}>
          <input name="count" inputMode="numeric" autocomplete="off" value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
        </Field>
      ) : null}
    </Sheet>
  );
}

function Effect({ hold }: { hold: Hold }) {
  const rows = hold.preview?.rows;
  if (typeof rows === "number") return <>{t("bulk.rows", { n: rows })}</>;
  if (hold.preview?.summary) return <Chip text={hold.preview.summary} />;
  // How often it may run says nothing about what it does.
  return <>{hold.call?.effects === "read_only" ? word("hold.effects", "read_only") : t("bulk.unknown")}</>;
}

function ResultCell({ result, changed }: { result: Result | undefined; changed: boolean }) {
  if (changed) return <Pill tone="hold">{t("bulk.changed")}</Pill>;
  if (!result) return null;
  if (result.is === "waiting") return <span class="muted">{t("answer.sending")}</span>;
  if (result.is === "refused") return <Refusal problem={result.problem} />;
  const tone = result.hold.state === "approved" ? "ok" : result.hold.state === "denied" ? "no" : "hold";
  return <Pill tone={tone}>{result.hold.state === "pending" ? t("vote.approve") : t(`state.${result.hold.state}`)}</Pill>;
}
