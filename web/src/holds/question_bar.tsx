// The bar of a question: its one button sends the form in the card, and beside it one declines.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Kbd } from "../components";
import { Icon } from "../icons";
import { t } from "../i18n";
import { useKey } from "../keys";
import type { AnswerProps } from "./answer";
import { Bar } from "./bar";
import { DenyPanel } from "./deny";
import { useUnread } from "./folds";
import { HoldMenu } from "./menu";
import { cardOf, UnreadNote } from "./unread";

interface Props extends AnswerProps {
  form: string;
  label?: string;
  note?: ComponentChildren;
  /** A call that was started cannot be declined any more. */
  final?: boolean;
}

export function QuestionBar(props: Props) {
  const { answering, calm, keys, form, label, note, final = false } = props;
  const [denying, setDenying] = useState(false);
  const [more, setMore] = useState(false);
  const ready = calm && !answering.busy;
  const unread = useUnread(props.hold);
  useKey("d", keys && ready && !denying && !final ? () => setDenying(true) : null);
  if (denying) return <Bar above={<DenyPanel {...props} back={() => setDenying(false)} />} />;
  return (
    <Bar note={unread ? <UnreadNote text={t("answer.unread")} within={() => cardOf(props.hold.id)} /> : note} above={more ? <HoldMenu hold={props.hold} now={props.now} close={() => setMore(false)} /> : undefined}>
      <button type="submit" form={form} class={`primary${calm ? "" : " settling"}`} disabled={!ready || unread}>
        {answering.busy ? t("answer.sending") : (label ?? t("answer.submit"))}
      </button>
      {final ? null : (
        <button type="button" class={`danger${calm ? "" : " settling"}`} disabled={!ready} aria-keyshortcuts={keys ? "d" : undefined} onClick={() => setDenying(true)}>
          {t("decline.open")}
          {keys ? <Kbd>d</Kbd> : null}
        </button>
      )}
      <button type="button" class="bar-more" aria-expanded={more} aria-label={t("approve.more", { what: t("claim.on") })} onClick={() => setMore(!more)}>
        <Icon name="more" />
      </button>
    </Bar>
  );
}
