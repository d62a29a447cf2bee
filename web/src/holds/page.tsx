// `/holds/{id}`: one hold, whole.

import { useEffect } from "preact/hooks";
import { t } from "../i18n";
import { useHold } from "../live";
import { holdPath } from "../route";
import { HoldView } from "./view";

export function HoldPage({ id }: { id: string }) {
  const known = useHold(id);
  const ready = typeof known !== "string";
  useEffect(() => {
    // Opening moves the focus to the title, never to a button: the next key must not answer. A card that only came to stand beside
    // the list takes it from nobody who goes through that: the next key would be meant for another row.
    const goesThroughList = location.pathname !== holdPath(id) && document.activeElement?.hasAttribute("data-item");
    if (ready && !goesThroughList) document.querySelector<HTMLElement>(".hold-page .hold-title")?.focus();
  }, [id, ready]);
  if (known === "loading") return <p class="loading">{t("app.loading")}</p>;
  if (known === "gone") {
    return (
      <div class="empty">
        <p>{t("refused.not_found")}</p>
        <a href="/">{t("app.back")}</a>
      </div>
    );
  }
  return <HoldView key={id} hold={known} place="page" />;
}
