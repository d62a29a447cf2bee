// What is wrong with a field, in words of ours. The schema behind it is the asker's, and nothing of it is said here.

import { t, word } from "../i18n";
import type { FieldFault } from "../wire";

export function faultText({ code, bound, types = [], name }: FieldFault): string {
  if (code === "missing" && name !== undefined) return t("fault.missing.name", { name });
  if (code === "wrong_type") return t("fault.wrong_type", { types: types.map((type) => word("fault.type", type)).join(" / ") });
  return word("fault", code, { n: bound ?? "" });
}
