// The frame: who is logged in, the lists at the side, and one view at a time.

import { useEffect, useState } from "preact/hooks";
import { Announce } from "./announce";
import * as api from "./api";
import { Banner } from "./banner";
import { Chat } from "./chat";
import { HoldPage } from "./holds/page";
import { Icon } from "./icons";
import { language, onLanguage, switchLanguage, t } from "./i18n";
import { counted, Inbox } from "./inbox";
import { live, useLive } from "./live";
import { Login } from "./login";
import { useRoute, type Route } from "./route";
import { Sessions } from "./sessions";
import { Start } from "./start";
import { hasVoted, isAddressed, useMe, Viewer } from "./who";
import type { Me } from "./wire";

type Who = { is: "loading" } | { is: "nobody" } | { is: "unreachable" } | { is: "known"; me: Me };

export function App() {
  const [who, setWho] = useState<Who>({ is: "loading" });
  const [frozen, setFrozen] = useState<string | null>(null);
  const [, redraw] = useState(0);

  const read = () => {
    api.me().then(
      (me) => {
        setWho({ is: "known", me });
        if (me.frozen) setFrozen("");
        live.start();
      },
      (problem: unknown) => setWho({ is: problem instanceof api.Refused && problem.status === 401 ? "nobody" : "unreachable" }),
    );
  };
  useEffect(() => {
    api.whenSignedOut(() => {
      live.stop();
      setWho({ is: "nobody" });
    });
    api.whenFrozen(setFrozen);
    // Also what happened before the connection stood. Of several looks the last one counts.
    let looks = 0;
    const look = () => {
      const mine = ++looks;
      api.me().then(
        (me) => mine === looks && setFrozen((reason) => (me.frozen ? (reason ?? "") : null)),
        () => {},
      );
    };
    const unopened = live.watchOpened(look);
    const unwatch = live.watchEvents((event) => {
      if (event.type === "house.thawed") setFrozen(null);
      if (event.type === "house.frozen") setFrozen(typeof event.data["reason"] === "string" ? event.data["reason"] : "");
      if (event.type.startsWith("house.")) look();
    });
    read();
    const still = onLanguage(() => redraw((n) => n + 1));
    return () => {
      unopened();
      unwatch();
      still();
    };
  }, []);
  useEffect(() => {
    document.documentElement.lang = language() === "zh" ? "zh-Hans" : "en";
  });

  switch (who.is) {
    case "loading":
      return <p class="loading">{t("app.loading")}</p>;
    case "nobody":
      return <Login read={read} />;
    case "unreachable":
      return (
        <main class="login">
          <p>{t("refused.unavailable")}</p>
          <button type="button" onClick={read}>
            {t("app.retry")}
          </button>
        </main>
      );
    case "known":
      return (
        <Viewer.Provider value={who.me}>
          <Frame frozen={frozen} signedOut={() => setWho({ is: "nobody" })} />
          <Announce me={who.me} />
        </Viewer.Provider>
      );
  }
}

function Frame({ frozen, signedOut }: { frozen: string | null; signedOut: () => void }) {
  const route = useRoute();
  const place = route.at === "hold" || route.at === "session" ? `${route.at}/${route.id}` : route.at;
  useEffect(() => {
    scrollTo(0, 0);
  }, [place]);
  return (
    <div class={`frame at-${route.at}`}>
      <a class="skip" href="#main">
        {t("app.skip")}
      </a>
      <Top signedOut={signedOut} />
      <Banner frozen={frozen} />
      <div class="columns">
        <aside class="side">
          <Inbox current={route.at === "hold" ? route.id : null} />
          <Sessions current={route.at === "session" ? route.id : null} />
        </aside>
        <main id="main" class="main" tabIndex={-1}>
          <Main route={route} />
        </main>
      </div>
    </div>
  );
}

function Main({ route }: { route: Route }) {
  switch (route.at) {
    case "home":
      return <Start />;
    case "hold":
      return <HoldPage key={route.id} id={route.id} />;
    case "session":
      return <Chat key={route.id} id={route.id} />;
    case "nowhere":
      return (
        <div class="empty">
          <p>{t("app.not_found")}</p>
          <a href="/">{t("app.back")}</a>
        </div>
      );
  }
}

function Top({ signedOut }: { signedOut: () => void }) {
  const me = useMe();
  const holds = useLive().all();
  const waiting = holds.filter((hold) => hold.state === "pending" && isAddressed(hold, me) && !hasVoted(hold, me)).length;
  const logout = () => {
    live.stop();
    void api.logout().finally(signedOut);
  };
  return (
    <header class="top">
      <a class="brand" href="/" aria-label={t("app.name")}>
        <svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
          <rect width="32" height="32" rx="8" class="brand-back" />
          <path d="M11 8v16M21 8v16" class="brand-bars" />
        </svg>
        <span class="brand-name">{t("app.name")}</span>
      </a>
      <a class="top-waiting" href="/">
        <Icon name="pending" />
        {t("sessions.waiting", { n: counted(waiting, live.next) })}
      </a>
      <span class="top-right">
        <span class="top-name">{me.name}</span>
        <button type="button" class="quiet" lang={language() === "zh" ? "en" : "zh-Hans"} aria-label={t("app.language.label")} onClick={switchLanguage}>
          {t("app.language")}
        </button>
        <button type="button" class="quiet" onClick={logout}>
          {t("app.logout")}
        </button>
      </span>
    </header>
  );
}
