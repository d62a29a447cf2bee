// Other arguments than those that were asked for: a field for each, or all as JSON. What changed is shown line by line, and what
// the changed call would do is looked at before anybody can approve it.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ArmButton, Segments } from "../components";
import { mayBeSecret, useDraft } from "../drafts";
import { FoldsOf } from "../folding";
import { Chip } from "../foreign";
import { t } from "../i18n";
import type { AnswerProps } from "./answer";
import { ArgumentInput } from "./argument";
import { Bar } from "./bar";
import { Confirm, needsWord, wordMatches } from "./confirm";
import { argumentsField, composed, draftFor, hasPlaceholder, objectProblem } from "./edited";
import { useUnread } from "./folds";
import { lower, verbText } from "./headline";
import { useHeldCall, type HeldCall } from "./held_call";
import { editedHeadline, lookFolds, LookView, useLook } from "./look";
import { memberAt, minified, pretty, valueOf } from "./raw_json";
import { draftIn, type Draft, type Errors, type Field, type GroupDraft } from "./schema";
import { UnreadNote } from "./unread";
import { YourChange } from "./your_change";

type EditProps = AnswerProps & { back: () => void };

export function EditAnswer(props: EditProps) {
  const held = useHeldCall(props.hold);
  if (held !== null && held !== "unsafe") return <EditForm {...props} held={held} />;
  return (
    <Bar above={held === null ? <p class="loading">{t("app.loading")}</p> : <p class="refusal">{t("approve.edit.unsafe")}</p>}>
      <button type="button" onClick={props.back}>
        {t("answer.cancel")}
      </button>
    </Bar>
  );
}

/** The arguments in fields. */
interface Form {
  field: Field;
  draft: GroupDraft;
}

function formOf(raw: string, held: HeldCall): Form {
  const field = argumentsField(raw, held.schema);
  const draft = draftFor(field, raw) as GroupDraft;
  // What the tool takes besides is added by a press.
  const there = Object.keys(valueOf(raw) ?? {});
  return { field, draft: { ...draft, group: Object.fromEntries(Object.entries(draft.group).filter(([name]) => there.includes(name))) } };
}

function EditForm({ hold, answering, calm, keys, setEdited, back, held }: EditProps & { held: HeldCall }) {
  const { raw: original } = held;
  // A change is kept as JSON, unless a secret may be in it.
  const [kept, keep] = useDraft(hold.id, `edit-${hold.digest}`);
  const secret = held.unread || mayBeSecret(held.schema) || hasPlaceholder(valueOf(original));
  const [{ field, draft }, setForm] = useState(() => formOf(objectProblem(kept) === null ? kept : original, held));
  const setGroup = (group: Record<string, Draft>) => setForm({ field, draft: { ...draft, group } });
  const [raw, setRaw] = useState(kept);
  const [as, setAs] = useState<"form" | "json">(kept === "" || objectProblem(kept) === null ? "form" : "json");
  const [typed, setTyped] = useState("");
  const section = useRef<HTMLElement>(null);
  const errors: Errors = {};
  const written = composed(field, draft, original, "", errors, true) ?? "{}";
  const text = as === "json" ? raw : written;
  const wrong = as === "form" ? Object.keys(errors).length : 0;
  const problem = wrong > 0 ? t(wrong === 1 ? "fill.fix.one" : "fill.fix", { n: wrong }) : editProblem(text, original);
  const look = useLook(hold, text, problem === null);
  const looked = look !== null && look.of === text && (look.state === "done" || look.state === "missing");
  // What the tool says of one version, and was opened, says nothing about another one.
  const [folds, setFolds] = useState<{ of: string; opened: ReadonlySet<string> }>({ of: "", opened: new Set() });
  const opened = folds.of === text ? folds.opened : new Set<string>();
  const open = (fold: string) => setFolds({ of: text, opened: new Set([...opened, fold]) });
  const unreadCall = useUnread(hold);
  const unread = unreadCall || (looked && lookFolds(hold, look).some((fold) => !opened.has(fold)));
  const headline = look?.state === "done" ? editedHeadline(hold, look.found) : null;
  useEffect(() => {
    setEdited(headline);
    return () => setEdited(null);
  }, [headline ? verbText(headline) : null]);
  useEffect(() => {
    section.current?.scrollIntoView({ block: "start" });
    section.current?.querySelector<HTMLElement>("[data-argument] :is(textarea, input, select)")?.focus({ preventScroll: true });
  }, []);
  // With the drawing and not after it: a reload right after a key would come first.
  useLayoutEffect(() => {
    if (wrong === 0 && !secret) keep(problem === t("approve.edit.same") ? "" : text);
  }, [text]);
  const discard = () => {
    keep("");
    back();
  };
  const swap = (to: "form" | "json") => {
    if (to === "json") setRaw(pretty(written));
    else if (objectProblem(raw) === null) setForm(formOf(raw, held));
    setAs(to);
  };
  const send = () => answering.sendText(`{"verdict":"approve","scope":"once","arguments":${text}}`);
  return (
    <>
      <section class="card-in edit" aria-label={t("edit.title")} ref={section} data-edit>
        <div class="edit-head">
          <h2>{t("edit.title")}</h2>
          <Segments name={`edit-${hold.id}`} label={t("edit.as")} value={as} options={[{ id: "form", label: t("edit.form") }, { id: "json", label: t("edit.json") }]} choose={swap} />
        </div>
        {as === "json" ? (
          <label class="field">
            <span>{t("approve.edit.label")}</span>
            <textarea class="code" name="arguments" spellcheck={false} rows={Math.min(18, raw.split("\n").length + 2)} value={raw} aria-invalid={problem !== null} onInput={(event) => setRaw(event.currentTarget.value)} />
          </label>
        ) : (
          <>
            {field.fields.flatMap((one, at) => {
              const inner = draftIn(draft.group, one.name);
              return inner === undefined ? [] : [
                <ArgumentInput
                  key={one.name}
                  field={one}
                  id={`edit-${hold.id}-${at}`}
                  draft={inner}
                  set={(next) => setGroup({ ...draft.group, [one.name]: next })}
                  errors={errors}
                  remove={one.required ? undefined : () => setGroup(Object.fromEntries(Object.entries(draft.group).filter(([name]) => name !== one.name)))}
                />,
              ];
            })}
            <MoreArguments fields={field.fields.filter((one) => draftIn(draft.group, one.name) === undefined)} add={(one) => setGroup({ ...draft.group, [one.name]: draftFor(one, (draft.from === undefined ? null : memberAt(draft.from, one.name)) ?? undefined) })} />
          </>
        )}
        {problem && wrong === 0 && problem !== t("approve.edit.same") ? (
          <p class="field-error" role="alert">
            {problem}
          </p>
        ) : null}
        {problem === null ? <YourChange before={original} after={text} /> : null}
        {problem === null ? (
          <FoldsOf.Provider value={{ opened, open }}>
            <LookView hold={hold} look={look} />
          </FoldsOf.Provider>
        ) : <p class="muted">{problem === t("approve.edit.same") ? problem : null} {t("approve.edit.note")}</p>}
      </section>
      <Bar above={needsWord(hold) ? <Confirm hold={hold} typed={typed} setTyped={setTyped} off={answering.busy} /> : undefined} note={unread ? <UnreadNote within={() => section.current} /> : wrong > 0 ? <span class="unread">{problem}</span> : looked || problem !== null ? undefined : t("edit.preview.first")}>
        <ArmButton
          label={headline ? t("approve.version.does", { verb: lower(verbText({ ...headline, amount: headline.amount ? { ...headline.amount, was: undefined } as never : null })) }) : t("approve.version")}
          does={headline ? lower(verbText(headline)) : t("approve.version")}
          keys={keys}
          off={answering.busy || problem !== null || !looked || unread || !wordMatches(hold, typed)}
          calm={calm}
          kind={needsWord(hold) ? "danger-solid" : "primary"}
          press={send}
        />
        <button type="button" onClick={discard}>
          {t("approve.discard")}
        </button>
      </Bar>
    </>
  );
}

function MoreArguments({ fields, add }: { fields: Field[]; add: (field: Field) => void }) {
  if (fields.length === 0) return null;
  return (
    <p class="more-arguments">
      <span class="muted">{t("edit.more")}</span>
      {fields.map((field) => (
        <span key={field.name}>
          <Chip text={field.name} />{" "}
          <button type="button" class="tiny" data-add-argument={field.name} onClick={() => add(field)}>
            {t("edit.add")}
            <span class="sr"> {field.name}</span>
          </button>
        </span>
      ))}
    </p>
  );
}

function editProblem(text: string, original: string): string | null {
  const problem = objectProblem(text);
  if (problem !== null) return t("approve.edit.not_json", { error: problem });
  if (hasPlaceholder(valueOf(text))) return t("approve.edit.secret");
  return minified(text) === minified(original) ? t("approve.edit.same") : null;
}
