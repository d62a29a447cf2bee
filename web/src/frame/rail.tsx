// Where one can go: a rail at the side of a desk, a bar at the foot of a phone.

import { language, switchLanguage, t, type Key } from "../i18n";
import { Icon, type IconName } from "../icons";
import { live, useLive } from "../live";
import type { Route } from "../route";
import { Who } from "../components";
import { counted, isAdmin, useMe, waitsForMe } from "../who";

interface Place {
  at: Route["at"];
  with?: Route["at"];
  href: string;
  icon: IconName;
  name: Key;
}

const PLACES: Place[] = [
  { at: "inbox", with: "hold", href: "/", icon: "inbox", name: "nav.inbox" },
  { at: "sessions", with: "session", href: "/sessions", icon: "sessions", name: "nav.sessions" },
  { at: "history", href: "/history", icon: "history", name: "nav.history" },
  { at: "start", href: "/start", icon: "start", name: "nav.start" },
  { at: "admin", href: "/admin", icon: "admin", name: "nav.admin" },
];

interface Props {
  route: Route;
  showKeys: () => void;
  showMore: () => void;
  showNotices: () => void;
  logout: () => void;
}

export function Rail({ route, showKeys, showMore, showNotices, logout }: Props) {
  const me = useMe();
  const waiting = useLive().all().filter((hold) => waitsForMe(hold, me)).length;
  const places = PLACES.filter((place) => (place.at === "start" ? (me.demo ?? []).length > 0 : place.at !== "admin" || isAdmin(me)));
  return (
    <nav class="rail" aria-label={t("nav.label")}>
      <a class="brand" href="/" aria-label={t("app.name")}>
        <svg viewBox="0 0 32 32" width="30" height="30" aria-hidden="true" focusable="false">
          <rect width="32" height="32" rx="8" class="brand-back" />
          <path d="M11 8v16M21 8v16" class="brand-bars" />
        </svg>
      </a>
      <ul>
        {places.map((place) => (
          <li key={place.at} class={place.at === "admin" ? "desk-only" : undefined}>
            <a class="nav" href={place.href} data-nav={place.at} aria-current={route.at === place.at || route.at === place.with ? "page" : undefined}>
              <Icon name={place.icon} />
              {t(place.name)}
              {place.at === "inbox" && waiting > 0 ? (
                <span class="nav-count" data-count={waiting}>
                  <span class="sr">, </span>
                  {counted(waiting, live)}
                  <span class="sr"> {t("state.pending")}</span>
                </span>
              ) : null}
            </a>
          </li>
        ))}
        <li class="phone-only">
          <button type="button" class="nav" data-nav="more" onClick={showMore}>
            <Icon name="more" />
            {t("nav.more")}
          </button>
        </li>
      </ul>
      <div class="rail-foot desk-only">
        <button type="button" class="nav" data-nav="notices" onClick={showNotices}>
          <Icon name="bell" />
          {t("push.title")}
        </button>
        <button type="button" class="nav" data-nav="keys" onClick={showKeys}>
          <Icon name="keys" />
          {t("nav.keys")}
        </button>
        <button type="button" class="nav" lang={language() === "zh" ? "en" : "zh-Hans"} aria-label={t("app.language.label")} onClick={switchLanguage}>
          {t("app.language")}
        </button>
        <span class="nav nav-me" title={t("nav.me", { name: me.name })}>
          <Who name={me.name} />
          <span class="nav-name">{me.name}</span>
        </span>
        <button type="button" class="nav" onClick={logout}>
          {t("app.logout")}
        </button>
      </div>
    </nav>
  );
}
