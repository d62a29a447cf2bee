// Who asks, who may answer, by which rule, until when, and who has voted.

import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { t, word, type Key } from "../i18n";
import { Chip } from "../foreign";
import { live } from "../live";
import { Plain } from "../plain";
import { holdPath, sessionPath } from "../route";
import { clock, full, span, useNow } from "../time";
import { nameOf, personName, useMe } from "../who";
import type { Hold, Said } from "../wire";
import { whatSaid } from "./refusal";

export function Facts({ hold }: { hold: Hold }) {
  const rows: [Key, ComponentChildren][] = [];
  // While it waits these stand above, where the decision is made.
  if (hold.state !== "pending") {
    rows.push(["hold.asked_by", <AskedBy hold={hold} />]);
    rows.push(["hold.audience", <Audience hold={hold} />]);
    if (hold.kind === "approve" || (hold.answers ?? []).length > 0) rows.push(["hold.votes", <Votes hold={hold} />]);
    if (hold.rule) rows.push(["hold.rule", <Plain text={hold.rule} />]);
  }
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

/** Who asks, who may answer and how many of them are needed, who voted, and by which rule: on the card, before the call itself. */
export function Standing({ hold }: { hold: Hold }) {
  const rows: [Key, ComponentChildren][] = [["hold.asked_by", <AskedBy hold={hold} />], ["hold.audience", <Audience hold={hold} />]];
  if (hold.kind === "approve" || (hold.answers ?? []).length > 0) rows.push(["hold.votes", <Votes hold={hold} />]);
  if (hold.rule) rows.push(["hold.rule", <Plain text={hold.rule} />]);
  return (
    <dl class="facts standing">
      {rows.map(([key, value]) => (
        <div key={key}>
          <dt>{t(key)}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The program or the agent first, then the person for whom it acts. */
function AskedBy({ hold }: { hold: Hold }) {
  const me = useMe();
  const asked = hold.asked_by ?? { program: null, agent: hold.agent, on_behalf_of: hold.requester };
  const kinds: [Key, string | null][] = [["hold.asked_by.program", asked.program], ["hold.asked_by.agent", asked.agent]];
  const named = kinds.filter((kind): kind is [Key, string] => kind[1] !== null);
  const person = asked.on_behalf_of === null ? null : personName(asked.on_behalf_of, me);
  return (
    <span class="asked-by">
      {named.map(([key, name]) => (
        <span key={key}>
          {t(key)} <Chip text={name} />
        </span>
      ))}
      {person === null ? null : named.length > 0 ? <span>{t("hold.asked_by.for", { name: person })}</span> : <span>{person}</span>}
      {person === null && named.length === 0 ? <span>–</span> : null}
    </span>
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

/** How a voter had logged in, and through whom: a link that somebody else made is told. */
function LoggedInBy({ said }: { said: Said }) {
  const me = useMe();
  const auth = said.auth;
  if (!auth) return null;
  const maker = auth.made_by && auth.made_by !== said.by ? t("vote.auth.made_by", { name: personName(auth.made_by, me) }) : "";
  return (
    <span class={maker ? "unread" : "muted"}>
      {" "}
      · {word("vote.auth", auth.method)}
      {auth.channel ? <> ({auth.channel})</> : null}
      {maker}
    </span>
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
              <LoggedInBy said={said} />
            </li>
          ))}
        </ul>
      ) : null}
    </>
  );
}
