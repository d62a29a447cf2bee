// The small form that opens in the bar: its first field takes the focus, Escape closes it, Ctrl+Enter sends it. And the form of a
// question, which stands in the card while its button stands in the bar.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { t } from "../i18n";

interface Props {
  off: boolean;
  submit: () => void;
  label: string;
  back: () => void;
  danger?: boolean;
  /** Further buttons beside the main one. */
  more?: ComponentChildren;
  /** The main button waits for this. */
  ready?: boolean;
  children?: ComponentChildren;
}

export function Panel({ off, submit, label, back, danger = false, more, ready = true, children }: Props) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    form.current?.querySelector<HTMLElement>("textarea, input, button[type=submit]")?.focus();
  }, []);
  return (
    <form
      ref={form}
      class="panel"
      onSubmit={(event) => {
        event.preventDefault();
        if (!off && ready) submit();
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        back();
      }}
      noValidate
    >
      <fieldset disabled={off} class="bare">
        {children}
        <div class="actions">
          <button type="submit" class={danger ? "danger-solid" : "primary"} disabled={!ready}>
            {label}
          </button>
          {more}
          <button type="button" class="quiet" onClick={back}>
            {t("answer.cancel")}
          </button>
        </div>
      </fieldset>
    </form>
  );
}

interface AnswerFormProps {
  id: string;
  off: boolean;
  submit: () => void;
  children: ComponentChildren;
}

/** Sent by the button in the bar, or by Ctrl+Enter in a field. */
export function AnswerForm({ id, off, submit, children }: AnswerFormProps) {
  return (
    <form
      id={id}
      class="answer-form card-in"
      onSubmit={(event) => {
        event.preventDefault();
        if (!off) submit();
      }}
      noValidate
    >
      <fieldset disabled={off} class="bare">
        {children}
      </fieldset>
    </form>
  );
}
