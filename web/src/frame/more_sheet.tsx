// What does not fit into the bar of a phone.

import { Button, Sheet } from "../components";
import { language, switchLanguage, t } from "../i18n";
import { go } from "../route";
import { isAdmin, useMe } from "../who";

export function MoreSheet({ close, showNotices, logout }: { close: () => void; showNotices: () => void; logout: () => void }) {
  const me = useMe();
  return (
    <Sheet name="more" title={me.name} close={close}>
      <div class="more-list">
        {isAdmin(me) ? (
          <Button
            onClick={() => {
              close();
              go("/admin");
            }}
          >
            {t("nav.admin")}
          </Button>
        ) : null}
        <Button
          onClick={() => {
            close();
            showNotices();
          }}
        >
          {t("push.title")}
        </Button>
        <Button lang={language() === "zh" ? "en" : "zh-Hans"} aria-label={t("app.language.label")} onClick={switchLanguage}>
          {t("app.language")}
        </Button>
        <Button onClick={logout}>{t("app.logout")}</Button>
        <Button kind="quiet" onClick={close}>
          {t("app.close")}
        </Button>
      </div>
    </Sheet>
  );
}
