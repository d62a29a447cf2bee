// One hold, on its own page or in a session: what is asked, how it stands, and how to answer it.

import { useEffect, useRef, useState } from "preact/hooks";
import { FoldsOf } from "../foreign";
import { Icon } from "../icons";
import { t, word } from "../i18n";
import { holdPath } from "../route";
import { personName, useMe } from "../who";
import type { Hold } from "../wire";
import { AnswerControls } from "./answer";
import { useAnswering } from "./answering";
import { needsTag } from "./confirm";
import { DecisionDetails } from "./decision";
import { Exact, Rationale } from "./exact";
import { Expiry, Facts, Standing } from "./facts";
import { OutcomeView } from "./outcome";
import { Title } from "./parts";
import { Refusal } from "./refusal";
import { Reveal } from "./reveal";
import { RiskBadge, SettledLine, StateBadge } from "./state";

interface Props {
  hold: Hold;
  place: "page" | "session";
}

export function HoldView({ hold, place }: Props) {
  // A person answers what they read. When the call changes under them the old one stays in view, with the controls off,
  // until they ask for the new one; it is never swapped between reading and clicking.
  const [read, setRead] = useState(hold);
  const stale = hold.state === "pending" && hold.digest !== read.digest;
  const shown = stale ? read : hold;
  const answering = useAnswering(shown);
  const pending = hold.state === "pending";
  const article = useRef<HTMLElement>(null);
  // What was opened of another call says nothing about this one.
  const [folds, setFolds] = useState<{ digest: string; opened: ReadonlySet<string> }>({ digest: "", opened: new Set() });
  const opened = folds.digest === shown.digest ? folds.opened : new Set<string>();
  const open = (key: string) => setFolds({ digest: shown.digest, opened: new Set([...opened, key]) });
  useEffect(() => {
    // The button that was pressed is gone; without this a keyboard would be back at the top of the page.
    const lost = document.activeElement === null || document.activeElement === document.body;
    if (!pending && lost) article.current?.querySelector<HTMLElement>(".settled")?.focus({ preventScroll: true });
  }, [pending]);
  // Answering a question runs nothing, so that its risk is worth a word only when somebody raised it.
  const question = hold.kind === "choose" || hold.kind === "fill";
  const Heading = place === "page" ? "h1" : "h3";

  return (
    <FoldsOf.Provider value={{ opened, open }}>
    <article ref={article} class={`hold hold-${place} state-${hold.state}`} data-hold={hold.id} data-kind={hold.kind} data-state={hold.state} aria-busy={answering.busy}>
      <header class="hold-head">
        <p class="badges">
          <StateBadge hold={hold} />
          <span class="badge kind">{word("hold.kind", hold.kind)}</span>
          {question && !needsTag(hold) ? null : <RiskBadge risk={hold.risk} />}
          <code class="badge">{hold.tag}</code>
        </p>
        <Heading class="hold-title" tabIndex={place === "page" ? -1 : undefined}>
          <Title hold={shown} />
        </Heading>
        {pending ? <p class="muted"><PendingLine hold={hold} /></p> : <SettledLine hold={hold} />}
        {pending ? <Standing hold={hold} /> : null}
      </header>

      {answering.refused ? <Refusal problem={answering.refused} /> : null}
      {stale ? <Stale show={() => setRead(hold)} /> : null}

      {pending ? null : <DecisionDetails hold={hold} />}
      <OutcomeView hold={hold} withResult={place === "page"} />
      {place === "page" || pending ? <Body hold={shown} place={place} stale={stale} /> : null}
      {pending ? <AnswerControls key={shown.digest} hold={shown} answering={answering} stale={stale} /> : null}

      {place === "page" ? (
        <section class="all-facts" aria-label={t("hold.details")}>
          <h2>{t("hold.details")}</h2>
          <Facts hold={stale ? { ...hold, digest: shown.digest } : hold} />
        </section>
      ) : (
        <details class="facts-more">
          <summary>{t("hold.details")}</summary>
          {pending ? null : <Body hold={shown} place={place} stale={false} />}
          <Facts hold={hold} />
        </details>
      )}
      {place === "session" ? (
        <p class="own-page">
          <a href={holdPath(hold.id)}>{t("hold.open_page")}</a>
        </p>
      ) : null}
    </article>
    </FoldsOf.Provider>
  );
}

function Body({ hold, place, stale }: Props & { stale: boolean }) {
  // A question's options and fields are drawn as controls, so its text may wait behind a word where space is short.
  const question = hold.kind === "choose" || hold.kind === "fill";
  return (
    <>
      {question && place === "session" ? (
        <details class="facts-more">
          <summary>{t("hold.exact.question")}</summary>
          <Exact hold={hold} stale={stale} />
        </details>
      ) : (
        <Exact hold={hold} stale={stale} />
      )}
      {hold.two_phase && hold.state === "pending" && hold.kind === "approve" ? <p class="note">{t("hold.two_phase")}</p> : null}
      <Reveal hold={hold} />
      <Rationale hold={hold} />
    </>
  );
}

function PendingLine({ hold }: { hold: Hold }) {
  const me = useMe();
  return (
    <>
      {t("hold.expires")}: <Expiry hold={hold} />
      {hold.claimed_by ? <> · {t("hold.claimed", { name: personName(hold.claimed_by, me) })}</> : null}
    </>
  );
}

function Stale({ show }: { show: () => void }) {
  return (
    <div class="stale" role="alert">
      <p>
        <Icon name="warning" />
        <strong>{t("stale.title")}</strong>
      </p>
      <p>{t("stale.text")}</p>
      <button type="button" class="primary" onClick={show}>
        {t("stale.show")}
      </button>
    </div>
  );
}
