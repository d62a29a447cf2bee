// One line of the inbox: risk as a shape, what is asked, who asks and by which rule, and how long is left.

import { Pill, RiskShape, TimeLeft } from "../components";
import { Chip } from "../foreign";
import { Icon } from "../icons";
import { t, word } from "../i18n";
import { Plain } from "../plain";
import { holdPath } from "../route";
import { personName, useMe } from "../who";
import type { Hold } from "../wire";
import { askerOf } from "./filter";
import { RowHeadline } from "./headline";
import type { Group } from "./sections";

interface Common {
  current: boolean;
  selected: boolean;
  /** Critical holds are decided one by one. */
  selectable: boolean;
  /** Behind the question mark, so that the list stays as it is. */
  query: string;
  select: (id: string, whole: boolean) => void;
}

export function Row({ group, open, toggle, current, selected, selectable, query, select }: Common & { group: Group; open: boolean; toggle: () => void }) {
  const hold = group.lead;
  const many = group.alike.length > 1;
  return (
    <li class={`row${current ? " row-current" : ""}${selected ? " row-selected" : ""}`}>
      <Mark hold={hold} selected={selected} selectable={selectable} select={() => select(hold.id, !open)} />
      <a class={`row-link state-${hold.state}`} href={holdPath(hold.id) + query} data-item={open ? undefined : hold.id} data-waits={hold.state === "pending"} aria-current={current && !open ? "true" : undefined}>
        <span class="row-title">
          <RowHeadline hold={hold} />
        </span>
        <span class="row-meta">
          <Meta hold={hold} />
        </span>
      </a>
      <span class="row-end">
        <TimeLeft hold={hold} as="short" />
        <span class="row-flags">
          <Flags hold={hold} />
          {many ? (
            <button type="button" class="row-alike" aria-expanded={open} data-alike={group.alike.length} onClick={toggle}>
              {t("inbox.alike", { n: group.alike.length })}
              <Icon name="down" />
            </button>
          ) : null}
        </span>
      </span>
    </li>
  );
}

/** One of several identical calls: its own tag, digest and time. */
export function AlikeRow({ hold, current, selected, selectable, query, select }: Common & { hold: Hold }) {
  return (
    <li class={`row row-sub${current ? " row-current" : ""}${selected ? " row-selected" : ""}`}>
      <Mark hold={hold} selected={selected} selectable={selectable} select={() => select(hold.id, false)} />
      <a class={`row-link state-${hold.state}`} href={holdPath(hold.id) + query} data-item={hold.id} data-waits={hold.state === "pending"} aria-current={current ? "true" : undefined}>
        <span class="row-digest">
          <b>{hold.tag}</b> <code>{shortDigest(hold.digest)}</code>
        </span>
      </a>
      <span class="row-end">
        <TimeLeft hold={hold} as="short" />
      </span>
    </li>
  );
}

/** "sha256:9d20…3c0e": enough to compare by eye; the card and the record have the whole. */
export function shortDigest(digest: string): string {
  const hex = digest.replace(/^sha256:/, "");
  return `${hex.slice(0, 4)}…${hex.slice(-4)}`;
}

/** The shape of the risk, and the box to select it in its place when a pointer or the focus is there. */
function Mark({ hold, selected, selectable, select }: { hold: Hold; selected: boolean; selectable: boolean; select: () => void }) {
  return (
    <span class={selectable ? "row-mark" : "row-mark row-fixed"}>
      <RiskShape risk={hold.risk} />
      {selectable ? (
        <label class="row-pick">
          <input type="checkbox" checked={selected} tabIndex={-1} data-select={hold.id} aria-label={t("inbox.select", { tag: hold.tag })} onChange={select} />
        </label>
      ) : null}
    </span>
  );
}

function Meta({ hold }: { hold: Hold }) {
  const me = useMe();
  const asker = askerOf(hold);
  const person = hold.asked_by?.on_behalf_of ?? hold.requester;
  return (
    <>
      {asker ? <Chip text={asker} /> : null}
      {person && person !== asker ? <span>{asker ? t("hold.asked_by.for", { name: personName(person, me) }) : personName(person, me)}</span> : null}
      {hold.kind === "approve" ? null : <span>· {word("hold.kind", hold.kind)}</span>}
      {hold.rule ? (
        <span class="row-rule">
          <Plain text={hold.rule} />
        </span>
      ) : null}
    </>
  );
}

function Flags({ hold }: { hold: Hold }) {
  const me = useMe();
  const need = hold.audience?.quorum ?? 1;
  const have = (hold.answers ?? []).filter((said) => said.verdict === "approve").length;
  return (
    <>
      {need > 1 ? <Pill>{t("inbox.quorum", { have, need })}</Pill> : null}
      {hold.mentioned?.includes(me.id) ? <Pill tone="brand">{t("inbox.mentioned")}</Pill> : null}
      {hold.claimed_by ? <Pill tone="brand">{t("hold.claimed", { name: personName(hold.claimed_by, me) })}</Pill> : null}
    </>
  );
}
