// The small form that opens under the buttons: its first field takes the focus, Escape closes it, Ctrl+Enter sends it.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { t } from "../i18n";

interface Props {
  off: boolean;
  submit: () => void;
  label: string;
  back?: () => void;
  danger?: boolean;
  /** Further buttons beside the main one. */
  more?: ComponentChildren;
  children: ComponentChildren;
}

export function Panel({ off, submit, label, back, danger = false, more, children }: Props) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (back) form.current?.querySelector<HTMLElement>("textarea, input, button.primary")?.focus();
  }, []);
  return (
    <form
      ref={form}
      class={back ? "panel" : "answer-form"}
      onSubmit={(event) => {
        event.preventDefault();
        if (!off) submit();
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape" && back) back();
      }}
      noValidate
    >
      <fieldset disabled={off} class="bare">
        {children}
        <div class="actions">
          <button type="submit" class={danger ? "danger-solid" : "primary"}>
            {label}
          </button>
          {more}
          {back ? (
            <button type="button" class="quiet" onClick={back}>
              {t("answer.cancel")}
            </button>
          ) : null}
        </div>
      </fieldset>
    </form>
  );
}
