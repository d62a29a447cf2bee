// What everyone on the page should know: no connection and since when, a frozen server and by whom, the server's own warnings.

import { useState } from "preact/hooks";
import * as api from "../api";
import { Button, Notice } from "../components";
import { Chip } from "../foreign";
import { t } from "../i18n";
import { useLive } from "../live";
import { Plain } from "../plain";
import { clock } from "../time";
import { isAdmin, useMe } from "../who";
import type { Freeze } from "../wire";
import { ThawSheet } from "./thaw";

export function Banners({ freeze }: { freeze: Freeze | null }) {
  const me = useMe();
  const live = useLive();
  const [thawing, setThawing] = useState(false);
  return (
    <div class="banners">
      {live.connected ? null : live.offline ? (
        <Notice name="offline" tone="no">
          {t("app.offline.since", { at: clock(new Date(live.lostAt).toISOString()) })}
        </Notice>
      ) : (
        <Notice name="behind">{t("app.behind")}</Notice>
      )}
      {freeze === null ? null : (
        <Notice
          name="frozen"
          tone="no"
          icon="frozen"
          urgent
          action={
            isAdmin(me) ? (
              <Button small onClick={() => setThawing(true)}>
                {t("app.thaw")}
              </Button>
            ) : null
          }
        >
          <b>{freeze.by ? <Plain text={t("app.frozen.by", { name: freeze.by })} /> : t("app.frozen")}</b> {freeze.reason ? <Chip text={freeze.reason} /> : null} {t("app.frozen.effect")}
        </Notice>
      )}
      {me.warnings.map((warning, at) => (
        <Notice key={at} name="warning">
          <Plain text={warning} />
        </Notice>
      ))}
      {thawing && freeze ? <ThawSheet freeze={freeze} close={() => setThawing(false)} thaw={api.thaw} /> : null}
    </div>
  );
}
