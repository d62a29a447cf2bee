// Nothing waits.

import { Icon } from "../icons";
import { t } from "../i18n";
import { useMe } from "../who";

export function Empty({ filtered }: { filtered: boolean }) {
  const me = useMe();
  return (
    <div class="empty-list" data-testid="empty">
      <Icon name="approved" />
      <b>{t(filtered ? "inbox.none_match" : "inbox.empty")}</b>
      {filtered ? <a href="/">{t("inbox.clear")}</a> : null}
      {!filtered && (me.demo ?? []).length > 0 ? (
        <a class="button primary" href="/start">
          {t("inbox.try")}
        </a>
      ) : null}
    </div>
  );
}
