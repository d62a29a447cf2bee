// Who decides, what happened so far, and where the hold belongs: after the call, for those who want to know more.

import type { ComponentChildren } from "preact";
import { Quoted } from "../foreign";
import { t, word, type Key } from "../i18n";
import { Plain } from "../plain";
import { holdPath, sessionPath } from "../route";
import { clock, full } from "../time";
import { nameOf, personName, useMe } from "../who";
import type { Hold, Said } from "../wire";
import { Audience, Moment } from "./facts";
import { whatSaid } from "./refusal";
import { settledText } from "./state";

export function About({ hold }: { hold: Hold }) {
  const me = useMe();
  const answers = hold.answers ?? [];
  return (
    <section class="about-hold" aria-label={t("card.about")}>
      <div>
        <h2>{t("card.who")}</h2>
        <p>
          <Audience hold={hold} />
        </p>
        {hold.session ? (
          <p>
            <a href={sessionPath(hold.session)}>{t("hold.open_session")}</a>
          </p>
        ) : null}
        {hold.parent?.startsWith("hold_") ? (
          <p>
            {t("hold.parent")} <a href={holdPath(hold.parent)}>{hold.parent}</a>
          </p>
        ) : null}
        <Undelivered hold={hold} />
      </div>
      <div>
        <h2>{t("card.timeline")}</h2>
        <ol class="timeline">
          <Step at={hold.opened_at}>{t("card.timeline.opened")}</Step>
          {hold.claimed_by ? <li>{t("card.timeline.claimed", { name: personName(hold.claimed_by, me) })}</li> : null}
          {answers.map((said, index) => (
            <Step key={index} at={said.at} kind={said.verdict === "deny" ? "no" : "ok"}>
              <Plain text={nameOf(said, me) ?? "–"} />: {whatSaid(said)}
              {said.via ? <span class="muted"> · {t("settled.via", { via: said.via })}</span> : null}
              <LoggedInBy said={said} />
            </Step>
          ))}
          {hold.state === "pending" ? <li class="step-now">{t(answers.length > 0 ? "card.timeline.waits.one" : "card.timeline.waits")}</li> : answers.length === 0 ? <li>{settledText(hold, me)}</li> : null}
          {hold.outcome ? <li class={hold.outcome.state === "succeeded" ? "step-ok" : ""}>{t(`outcome.${hold.outcome.state}`)}</li> : null}
        </ol>
      </div>
    </section>
  );
}

function Step({ at, kind = "", children }: { at: string | undefined; kind?: string; children: ComponentChildren }) {
  return (
    <li class={kind === "" ? undefined : `step-${kind}`}>
      {children} {at ? <Moment at={at} /> : null}
    </li>
  );
}

/** How a voter had logged in, and through whom: a link that somebody else made is told. */
function LoggedInBy({ said }: { said: Said }) {
  const auth = said.auth;
  if (!auth) return null;
  const maker = auth.made_by && auth.made_by !== said.by ? t("vote.auth.made_by", { name: auth.made_by }) : "";
  return (
    <span class={maker ? "unread" : "muted"}>
      {" "}
      · {word("vote.auth", auth.method)}
      {auth.channel ? <> ({auth.channel})</> : null}
      <Plain text={maker} />
    </span>
  );
}

/** The hold waits for an answer all the same; a reader can ask them another way. */
function Undelivered({ hold }: { hold: Hold }) {
  const me = useMe();
  if (!hold.undelivered?.length) return null;
  return (
    <>
      <h2>{t("hold.undelivered")}</h2>
      <ul class="plain-list undelivered">
        {hold.undelivered.map((one, at) => (
          <li key={at}>
            <Plain text={t("hold.undelivered.to", { to: personName(one.to, me), channel: one.channel })} />, <Moment at={one.at} />
            {/* The platform's own words. */}
            <Quoted text={one.why} prose />
          </li>
        ))}
      </ul>
    </>
  );
}

/** What identifies the hold, folded under the call. */
export function RecordFacts({ hold }: { hold: Hold }) {
  const rows: [Key, ComponentChildren][] = [
    ["hold.tag", <code>{hold.tag}</code>],
    ["hold.digest", <code class="digest">{hold.digest}</code>],
    ["hold.opened", <time dateTime={hold.opened_at}>{full(hold.opened_at)}</time>],
  ];
  if (hold.expires_at) rows.push(["hold.expires", <time dateTime={hold.expires_at} title={full(hold.expires_at)}>{clock(hold.expires_at)}</time>]);
  return (
    <dl class="kv">
      {rows.map(([key, value]) => (
        <div key={key}>
          <dt>{t(key)}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
