// One argument of an edited call, drawn by what the tool says of it and by what is there. Its words and values are the tool's.

import { t } from "../i18n";
import { FieldView } from "./field";
import type { Draft, Errors, Field } from "./schema";

interface Props {
  field: Field;
  id: string;
  draft: Draft;
  set: (draft: Draft) => void;
  errors: Errors;
  /** Leaves it out of the call; absent where the tool needs it. */
  remove?: (() => void) | undefined;
}

export function ArgumentInput({ field, id, draft, set, errors, remove }: Props) {
  const leave = remove ? (
    <button type="button" class="link" onClick={remove}>
      {t("edit.remove")}
      <span class="sr"> {field.name}</span>
    </button>
  ) : null;
  return (
    <div data-argument={field.name}>
      {/* The button above leaves it out, and nothing else does. */}
      <FieldView field={{ ...field, required: true }} id={id} path={field.name} draft={draft} set={set} errors={errors} aside={leave} />
    </div>
  );
}
