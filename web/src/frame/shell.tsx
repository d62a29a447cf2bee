// The frame of a logged-in person: the rail, what holds for the whole page, and one view at a time.

import { useEffect, useState } from "preact/hooks";
import * as api from "../api";
import { Toasts } from "../components";
import { dropDrafts } from "../drafts";
import { t } from "../i18n";
import { useKey } from "../keys";
import { lazy } from "../lazy";
import { live } from "../live";
import { go, useAddress, type Address } from "../route";
import { HoldsView } from "../inbox/view";
import { SessionsView } from "../sessions";
import { Start } from "../start";
import type { Freeze } from "../wire";
import { Banners } from "./banners";
import { KeysSheet } from "./keys_sheet";
import { MoreSheet } from "./more_sheet";
import { Rail } from "./rail";
import { notify } from "../push/desktop";
import { NoticesSheet } from "../push/notices_sheet";
import { forget, renew } from "../push/push";
import { useMe } from "../who";

// Most visits are not an admin's.
const Admin = lazy<{ tab: string; frozen: boolean }>(() => import("../admin/admin"), () => <p class="loading late">{t("app.loading")}</p>);

export function Shell({ freeze, signedOut }: { freeze: Freeze | null; signedOut: () => void }) {
  const address = useAddress();
  const { route } = address;
  const [keys, showKeys] = useState(false);
  const [more, showMore] = useState(false);
  const [notices, showNotices] = useState(false);
  const me = useMe();
  useEffect(() => {
    renew();
    return notify(me);
  }, [me]);
  const place = route.at === "hold" || route.at === "session" ? `${route.at}/${route.id}` : route.at;
  useEffect(() => {
    scrollTo(0, 0);
  }, [place]);
  useKey("?", () => showKeys(true));
  useKey("g i", () => go("/"));
  useKey("g h", () => go("/history"));
  useKey("g s", () => go("/sessions"));
  const logout = () => {
    live.stop();
    dropDrafts();
    // While the login still stands: what was subscribed with it ends with it.
    void forget().then(api.logout).finally(signedOut);
  };
  return (
    <div class={`shell at-${route.at}`}>
      <a class="skip" href="#main">
        {t("app.skip")}
      </a>
      <Rail route={route} showKeys={() => showKeys(true)} showMore={() => showMore(true)} showNotices={() => showNotices(true)} logout={logout} />
      <div class="shell-main">
        <Banners freeze={freeze} />
        <main id="main" class="main" tabIndex={-1}>
          <View address={address} frozen={freeze !== null} />
        </main>
      </div>
      <Toasts />
      {more ? <MoreSheet close={() => showMore(false)} showNotices={() => showNotices(true)} logout={logout} /> : null}
      {notices ? <NoticesSheet close={() => showNotices(false)} /> : null}
      {keys ? <KeysSheet close={() => showKeys(false)} /> : null}
    </div>
  );
}

function View({ address, frozen }: { address: Address; frozen: boolean }) {
  const { route } = address;
  switch (route.at) {
    case "inbox":
    case "history":
    case "hold":
      return <HoldsView address={address} frozen={frozen} />;
    case "start":
      return <Start />;
    case "sessions":
    case "session":
      return <SessionsView current={route.at === "session" ? route.id : null} />;
    case "admin":
      return <Admin tab={route.tab} frozen={frozen} />;
    case "nowhere":
      return (
        <div class="empty">
          <p>{t("app.not_found")}</p>
          <a href="/">{t("app.back")}</a>
        </div>
      );
  }
}
