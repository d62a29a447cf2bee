// Four facts before the call itself: who asks, which rule stopped it, what if it goes wrong, and what became of calls like it.
// Who may answer, who voted and when are told after it.

import type { ComponentChildren } from "preact";
import { Chip } from "../foreign";
import { Icon } from "../icons";
import { t, word, type Key } from "../i18n";
import { Plain } from "../plain";
import { clock, full } from "../time";
import { nameOf, personName, useMe } from "../who";
import type { Hold } from "../wire";
import { Before } from "./before";
import { headlineOf } from "./headline";

export function FourFacts({ hold }: { hold: Hold }) {
  const question = hold.kind === "choose" || hold.kind === "fill" || hold.kind === "perform" || hold.kind === "settle";
  const rows: [Key, ComponentChildren][] = [["hold.asked_by", <AskedBy hold={hold} />]];
  if (question || hold.call === null) {
    rows.push(["card.who", <WhoMayAnswer hold={hold} />]);
  } else {
    rows.push(["card.stopped_by", <Rule hold={hold} />]);
    rows.push(["card.wrong", <IfWrong hold={hold} />]);
    rows.push(["card.before", <Before hold={hold} />]);
  }
  return (
    <dl class="facts">
      {rows.map(([key, value]) => (
        <div key={key} data-fact={key}>
          <dt>{t(key)}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The program or the agent first, then the person for whom it acts. */
export function AskedBy({ hold }: { hold: Hold }) {
  const me = useMe();
  const asked = hold.asked_by ?? { program: null, agent: hold.agent, on_behalf_of: hold.requester };
  const kinds: [Key, string | null][] = [["hold.asked_by.program", asked.program], ["hold.asked_by.agent", asked.agent]];
  const named = kinds.filter((kind): kind is [Key, string] => kind[1] !== null);
  const person = asked.on_behalf_of === null ? null : personName(asked.on_behalf_of, me);
  const at = clock(hold.opened_at);
  return (
    <>
      <span class="asked-by">
        {named.map(([key, name]) => (
          <span key={key} class="asked-one">
            <Icon name={key === "hold.asked_by.agent" ? "model" : "sessions"} />
            <span class="sr">{t(key)} </span>
            <Chip text={name} />
          </span>
        ))}
        {person === null ? null : named.length > 0 ? <span>{t("hold.asked_by.for", { name: person })}</span> : <b>{person}</b>}
        {person === null && named.length === 0 ? <span>–</span> : null}
      </span>
      <small>
        <time dateTime={hold.opened_at} title={full(hold.opened_at)}>
          {asked.agent !== null ? t("card.asked.agent", { at }) : asked.program !== null ? t("card.asked.program", { at }) : t("card.asked", { at })}
        </time>
      </small>
    </>
  );
}

function Rule({ hold }: { hold: Hold }) {
  if (!hold.rule) {
    return (
      <>
        {t("card.stopped_by.none")}
        <small>{t("card.stopped_by.default")}</small>
      </>
    );
  }
  return (
    <>
      <span class="rule-name">
        <Plain text={hold.rule} />
      </span>
      <small>
        <Audience hold={hold} />
      </small>
    </>
  );
}

function IfWrong({ hold }: { hold: Hold }) {
  const { undo, effect } = headlineOf(hold);
  const effects = hold.call?.effects;
  return (
    <>
      {undo === "cannot_be_undone" ? <b>{t("card.wrong.cannot_be_undone")}</b> : t(`card.wrong.${undo}`)}
      <small>{effect === "elsewhere" && hold.session === null ? t("card.effects.elsewhere") : effects ? word("card.effects", effects) : ""}</small>
    </>
  );
}

export function WhoMayAnswer({ hold }: { hold: Hold }) {
  const need = hold.audience?.quorum ?? 1;
  return (
    <>
      <Audience hold={hold} />
      <small>{need > 1 ? t("card.who.quorum", { need }) : t("card.who.one")}</small>
    </>
  );
}

export function Audience({ hold }: { hold: Hold }) {
  const me = useMe();
  const { people = [], roles = [], exclude_requester = false } = hold.audience ?? {};
  const all = [...people.map((id) => personName(id, me)), ...roles.map((role) => t("hold.audience.role", { role }))];
  if (exclude_requester) all.push(t("hold.audience.not_requester"));
  return all.length === 0 ? <span>–</span> : <Plain text={all.join(", ")} />;
}

export function Moment({ at }: { at: string }) {
  return (
    <time dateTime={at} title={full(at)}>
      {clock(at)}
    </time>
  );
}

/** "1 of 2" in plain sight, with who was first. */
export function Quorum({ hold }: { hold: Hold }) {
  const me = useMe();
  const need = hold.audience?.quorum ?? 1;
  if (hold.kind !== "approve" || need < 2 || hold.state !== "pending") return null;
  const yes = (hold.answers ?? []).filter((said) => said.verdict === "approve");
  return (
    <div class="note quorum" data-quorum={`${yes.length}/${need}`}>
      <span class="pips" aria-hidden="true">
        {Array.from({ length: need }, (_, at) => (
          <span key={at} class={at < yes.length ? "pip on" : "pip"}>
            {at < yes.length ? "✓" : at + 1}
          </span>
        ))}
      </span>
      <p>
        <b>{t("card.quorum", { have: yes.length, need })}</b> {yes.map((said) => t("card.quorum.by", { name: nameOf(said, me) ?? "–", at: clock(said.at) })).join(" ")} {t(yes.length + 1 >= need ? "card.quorum.last" : "card.quorum.more")}
      </p>
    </div>
  );
}
