// One hold, on its own page or in a session, in the order of an approver's questions: how bad and how long, what and how much,
// where, anything odd, four facts, what will run, what the model says of it. The bar to decide is always in view.

import { useEffect, useRef, useState } from "preact/hooks";
import { useCalm } from "../calm";
import { Comments } from "../comments/comments";
import { FilesOfCall } from "../files/of_call";
import { FoldsOf } from "../folding";
import { t } from "../i18n";
import { holdPath } from "../route";
import { personName, useMe } from "../who";
import type { Headline, Hold } from "../wire";
import { About, RecordFacts } from "./about";
import { AnswerControls } from "./answer";
import { useAnswering } from "./answering";
import { BeforeBar } from "./bar";
import { DecisionDetails } from "./decision";
import { DoneBanner, NextBar } from "./done";
import { FourFacts, Quorum } from "./facts";
import { EffectLine, headlineOf, Targets, verbText } from "./headline";
import { OutcomeView } from "./outcome";
import { Parts, RecordView } from "./parts";
import { Rationale } from "./rationale";
import { Refusal } from "./refusal";
import { Reveal } from "./reveal";
import { StaleNote } from "./stale";
import { Topline } from "./topline";
import { FrontWarnings, MoreWarnings } from "./warnings";

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
  const calm = useCalm(`${hold.id} ${shown.digest} ${hold.state}`);
  const article = useRef<HTMLElement>(null);
  const [edited, setEdited] = useState<Headline | null>(null);
  // What was opened of another call, or of another view of it, says nothing about this one.
  const seen = `${shown.digest} ${shown.view?.digest ?? ""}`;
  const [folds, setFolds] = useState<{ of: string; opened: ReadonlySet<string> }>({ of: "", opened: new Set() });
  const opened = folds.of === seen ? folds.opened : new Set<string>();
  const open = (key: string) => setFolds({ of: seen, opened: new Set([...opened, key]) });
  // Read while it waited, and decided by somebody else.
  const [waited] = useState(pending);
  const elsewhere = waited && !pending && !answering.sent && Boolean(hold.decision);
  useEffect(() => {
    // The button that was pressed is gone; without this a keyboard would be back at the top of the page.
    const lost = document.activeElement === null || document.activeElement === document.body;
    if (!pending && lost) article.current?.querySelector<HTMLElement>(".done")?.focus({ preventScroll: true });
    // What was decided stands on top, and the eyes are at the bar.
    if (!pending && waited && place === "page") article.current?.scrollIntoView({ block: "start" });
  }, [pending]);
  const Heading = place === "page" ? "h1" : "h3";
  const headline = edited ?? headlineOf(shown);
  const whole = place === "page" || pending;
  // The form of a question comes right after the question, and what identifies the hold after the form.
  const formed = hasForm(shown, pending);
  const below =
    formed || place === "page" ? (
      <div class="card-in">
        {formed ? <Record hold={shown} place={place} /> : null}
        {place === "page" ? <About hold={hold} /> : null}
        {place === "page" ? <Comments hold={hold} keys /> : null}
      </div>
    ) : null;

  return (
    <FoldsOf.Provider value={{ opened, open }}>
      <article ref={article} class={`card hold hold-${place} state-${hold.state}`} data-hold={hold.id} data-kind={hold.kind} data-state={hold.state} aria-busy={answering.busy} aria-labelledby={`verb-${hold.id}`}>
        {pending ? null : <DoneBanner hold={hold} elsewhere={elsewhere} />}
        <div class="card-in">
          <header class="card-head">
            <Topline hold={hold} />
            <Heading class="verb hold-title" id={`verb-${hold.id}`} tabIndex={place === "page" ? -1 : undefined}>
              {verbText(headline)}
            </Heading>
            <Targets hold={shown} />
            <EffectLine hold={shown} />
          </header>
          {answering.refused && !stale ? <Refusal problem={answering.refused} /> : null}
          {pending ? null : <DecisionDetails hold={hold} />}
          {stale ? <StaleNote read={read} now={hold} refused={answering.refused?.code ?? null} /> : null}
          <OutcomeView hold={hold} withResult={place === "page"} />
          {whole ? <Body hold={shown} place={place} /> : <SettledBody hold={shown} place={place} />}
          {place === "page" && !pending ? <><About hold={hold} /><Comments hold={hold} keys /></> : null}
          {place === "session" ? (
            <p class="own-page">
              <a href={holdPath(hold.id)}>{t("hold.open_page")}</a>
            </p>
          ) : null}
        </div>
        <BeforeBar.Provider value={below}>
        {pending ? <AnswerControls key={shown.digest} hold={shown} now={hold} answering={answering} stale={stale} calm={calm} keys={place === "page"} showNew={() => setRead(hold)} setEdited={setEdited} /> : null}
        </BeforeBar.Provider>
        {pending || place === "session" ? null : <NextBar hold={hold} keys={place === "page"} />}
      </article>
    </FoldsOf.Provider>
  );
}

function SettledBody(props: Props) {
  return (
    <details class="record">
      <summary>{t("hold.details")}</summary>
      <div class="record-in">
        <Body {...props} />
      </div>
    </details>
  );
}

function hasForm(hold: Hold, pending: boolean): boolean {
  return pending && hold.kind !== "approve" && hold.view !== undefined;
}

function Record({ hold, place }: Props) {
  return <RecordView hold={hold}>{place === "page" ? <RecordFacts hold={hold} /> : <code class="digest">{hold.digest}</code>}</RecordView>;
}

function Body({ hold, place }: Props) {
  const me = useMe();
  const pending = hold.state === "pending";
  // A question that waits draws its options and fields as controls.
  const controls = pending && (hold.kind === "choose" || hold.kind === "fill");
  const gates = hold.kind === "approve" && hold.call !== null;
  const title =
    hold.kind === "settle" ? t("card.call_in_question")
    : hold.kind === "perform" ? t("card.todo")
    : !gates ? null
    : pending ? t(headlineOf(hold).verb === "edit_files" ? "card.change" : "card.run")
    : hold.outcome ? t("card.ran")
    : t("card.not_run");
  return (
    <>
      {hold.claimed_by && pending ? <p class="note" data-claimed={hold.claimed_by}>{t("hold.claimed", { name: personName(hold.claimed_by, me) })}</p> : null}
      <FrontWarnings hold={hold} />
      <Quorum hold={hold} />
      <FourFacts hold={hold} />
      <MoreWarnings hold={hold} />
      {hold.view?.parts ? <Parts hold={hold} controls={controls} title={title} said={<Rationale hold={hold} />} record={hasForm(hold, pending) ? null : <Record hold={hold} place={place} />} /> : null}
      <FilesOfCall value={hold.call?.arguments} />
      {hold.two_phase && pending && hold.kind === "approve" ? <p class="note">{t("hold.two_phase")}</p> : null}
      <Reveal hold={hold} />
    </>
  );
}
