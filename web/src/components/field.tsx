// A label, its control, and a word of help or of complaint.

import type { ComponentChildren } from "preact";

interface Props {
  label: ComponentChildren;
  hint?: ComponentChildren;
  error?: string | null;
  children: ComponentChildren;
}

export function Field({ label, hint, error = null, children }: Props) {
  return (
    <label class="field">
      <span>{label}</span>
      {children}
      {hint ? <small class="hint">{hint}</small> : null}
      {error ? (
        <span class="field-error" role="alert">
          {error}
        </span>
      ) : null}
    </label>
  );
}
