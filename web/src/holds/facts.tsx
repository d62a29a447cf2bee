// Who asks, who may answer, by which rule, until when, and who has voted.

import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { t, word, type Key } from "../i18n";
import { live } from "../live";
import { Plain } from "../plain";
import { holdPath, sessionPath } from "../route";
import { clock, full, span, useNow } from "../time";
import { nameOf, personName, useMe } from "../who";
import type { Hold } from "../wire";
import { whatSaid } from "./refusal";

export function Facts({ hold }: { hold: Hold }) {
  const me = useMe();
  const rows: [Key, ComponentChildren][] = [];
  if (hold.agent) rows.push(["hold.agent", <Plain text={hold.agent} />]);
  if (hold.requester) rows.push(["hold.requester", <Plain text={personName(hold.requester, me)} />]);
  if (hold.call) rows.push(["hold.tool", <code><Plain text={hold.call.tool} /></code>]);
  if (hold.call?.effects) rows.push(["hold.effects", word("hold.effects", hold.call.effects)]);
  if (hold.rule) rows.push(["hold.rule", <Plain text={hold.rule} />]);
  rows.push(["hold.audience", <Audience hold={hold} />]);
  if (hold.kind === "approve" || (hold.answers ?? []).length > 0) rows.push(["hold.votes", <Votes hold={hold} />]);
  rows.push(["hold.opened", <Moment at={hold.opened_at} />]);
  if (hold.state === "pending") rows.push(["hold.expires", <Expiry hold={hold} />]);
  if (hold.undelivered?.length) rows.push(["hold.undelivered", <Undelivered hold={hold} />]);
  if (hold.session) rows.push(["hold.session", <a href={sessionPath(hold.session)}>{t("hold.open_session")}</a>]);
  if (hold.parent?.startsWith("hold_")) rows.push(["hold.parent", <a href={holdPath(hold.parent)}>{hold.parent}</a>]);
  rows.push(["hold.tag", <code>{hold.tag}</code>]);
  rows.push(["hold.digest", <code class="digest">{hold.digest}</code>]);
  return (
    <dl class="facts">
      {rows.map(([key, value]) => (
        <div key={key}>
          <dt>{t(key)}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Moment({ at }: { at: string }) {
  return (
    <time dateTime={at} title={full(at)}>
      {clock(at)}
    </time>
  );
}

export function Expiry({ hold, brief = false }: { hold: Hold; brief?: boolean }) {
  const until = hold.expires_at ? Date.parse(hold.expires_at) : Number.NaN;
  const now = useNow(hold.state === "pending" && !Number.isNaN(until));
  const due = until <= now;
  useEffect(() => {
    // The server decides when it is over; this only looks soon, should the event not reach us.
    if (due && hold.state === "pending") void live.read(hold.id);
  }, [due]);
  if (!hold.expires_at || Number.isNaN(until)) return <span>{t("hold.expires.never")}</span>;
  if (brief && !due) return <span class={until - now < 60_000 ? "soon" : undefined}>{t("hold.expires.left", { left: span(until - now) })}</span>;
  return (
    <span class={until - now < 60_000 ? "soon" : undefined}>
      <time dateTime={hold.expires_at} title={full(hold.expires_at)}>
        {clock(hold.expires_at)}
      </time>
      {", "}
      {due ? t("hold.expires.due") : t("hold.expires.in", { left: span(until - now) })}
    </span>
  );
}

function Audience({ hold }: { hold: Hold }) {
  const me = useMe();
  const { people = [], roles = [], exclude_requester = false } = hold.audience ?? {};
  const all = [...people.map((id) => personName(id, me)), ...roles.map((role) => t("hold.audience.role", { role }))];
  if (exclude_requester) all.push(t("hold.audience.not_requester"));
  return all.length === 0 ? <span>–</span> : <Plain text={all.join(", ")} />;
}

/** The hold waits for an answer all the same; whoever reads this can ask them another way. */
function Undelivered({ hold }: { hold: Hold }) {
  const me = useMe();
  return (
    <ul class="plain-list undelivered">
      {(hold.undelivered ?? []).map((one, at) => (
        <li key={at}>
          <Plain text={t("hold.undelivered.to", { to: personName(one.to, me), channel: one.channel })} />: <Plain text={one.why} />
          {", "}
          <Moment at={one.at} />
        </li>
      ))}
    </ul>
  );
}

function Votes({ hold }: { hold: Hold }) {
  const me = useMe();
  const answers = hold.answers ?? [];
  const need = hold.audience?.quorum ?? 1;
  const have = answers.filter((said) => said.verdict === "approve").length;
  return (
    <>
      {hold.kind === "approve" ? (
        <span class="quorum">
          <span class="pips" aria-hidden="true">
            {Array.from({ length: need }, (_, at) => (
              <span key={at} class={at < have ? "pip on" : "pip"} />
            ))}
          </span>
          {t("hold.quorum", { have, need })}
        </span>
      ) : null}
      {answers.length > 0 ? (
        <ul class="plain-list votes">
          {answers.map((said, at) => (
            <li key={at}>
              <Plain text={nameOf(said, me) ?? "–"} />: {whatSaid(said)}
              {said.at ? (
                <>
                  , <Moment at={said.at} />
                </>
              ) : null}
              {said.via ? <span class="muted"> · {t("settled.via", { via: said.via })}</span> : null}
            </li>
          ))}
        </ul>
      ) : null}
    </>
  );
}
