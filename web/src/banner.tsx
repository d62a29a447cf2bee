// What everyone on the page should know: no connection, a frozen server, and the server's own warnings.

import { Icon } from "./icons";
import { t } from "./i18n";
import { useLive } from "./live";
import { Plain } from "./plain";
import { useMe } from "./who";

export function Banner({ frozen }: { frozen: string | null }) {
  const me = useMe();
  const live = useLive();
  return (
    <>
      {live.connected ? null : (
        <p class="banner banner-offline" role="status">
          <Icon name="warning" />
          <span>{t("app.offline")}</span>
        </p>
      )}
      {frozen === null ? null : (
        <p class="banner banner-frozen" role="alert">
          <Icon name="warning" />
          <span>
            {t("app.frozen")} <Plain text={frozen} />
          </span>
        </p>
      )}
      {me.warnings.map((warning, at) => (
        <p class="banner" key={at} role="status">
          <Icon name="warning" />
          <span>
            <Plain text={warning} />
          </span>
        </p>
      ))}
    </>
  );
}
