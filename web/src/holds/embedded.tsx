// A hold where it came up: inside its session.

import { t } from "../i18n";
import { useHold } from "../live";
import { HoldView } from "./view";

export function EmbeddedHold({ id }: { id: string }) {
  const known = useHold(id);
  if (known === "gone") return <p class="note">{t("refused.not_found")}</p>;
  if (known === "loading") return <p class="loading">{t("app.loading")}</p>;
  return <HoldView hold={known} place="session" />;
}
