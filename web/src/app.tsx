// Who is logged in, and whether everything is frozen; all else is in the frame.

import { useEffect, useRef, useState } from "preact/hooks";
import { Announce } from "./announce";
import * as api from "./api";
import { Button } from "./components";
import { Shell } from "./frame/shell";
import { language, onLanguage, t } from "./i18n";
import { live } from "./live";
import { dropDraftsOfOthers } from "./drafts";
import { Login } from "./login";
import { goToWanted } from "./wanted";
import { isAdmin, knowNames, Viewer } from "./who";
import type { Freeze, Me } from "./wire";

type Login = { is: "loading" } | { is: "nobody" } | { is: "unreachable" } | { is: "known"; me: Me };

export function App() {
  const [login, setLogin] = useState<Login>({ is: "loading" });
  const [freeze, setFreeze] = useState<Freeze | null>(null);
  const [, redraw] = useState(0);
  const reader = useRef<Me | null>(null);
  const setNobody = () => {
    reader.current = null;
    knowNames([]);
    setLogin({ is: "nobody" });
  };

  const read = () => {
    // The list is asked for at the same time: what waits is there when the frame is.
    live.start();
    api.me().then(
      (me) => {
        goToWanted();
        dropDraftsOfOthers(me.id);
        reader.current = me;
        if (!isAdmin(me)) knowNames([]);
        setLogin({ is: "known", me });
        if (isAdmin(me)) {
          api.people().then(
            ({ items }) => {
              if (reader.current !== me) return;
              knowNames(items);
              redraw((n) => n + 1);
            },
            // Ids say as much.
            () => {},
          );
        }
      },
      (problem: unknown) => (problem instanceof api.Refused && problem.status === 401 ? setNobody() : setLogin({ is: "unreachable" })),
    );
  };
  useEffect(() => {
    api.whenSignedOut(() => {
      live.stop();
      setNobody();
    });
    // Also what happened before the connection stood. Of several looks the last one counts.
    let looks = 0;
    const look = () => {
      const mine = ++looks;
      api.freeze().then(
        (now) => mine === looks && setFreeze(now.frozen ? now : null),
        () => {},
      );
    };
    api.whenFrozen((detail) => {
      if (detail === null) setFreeze(null);
      else setFreeze((now) => now ?? { frozen: true, by: null, reason: null });
      look();
    });
    const unopened = live.watchOpened(look);
    const unwatch = live.watchEvents((event) => {
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

  switch (login.is) {
    case "loading":
      return <p class="loading late">{t("app.loading")}</p>;
    case "nobody":
      return <Login read={read} />;
    case "unreachable":
      return (
        <main class="login">
          <p>{t("refused.unavailable")}</p>
          <Button onClick={read}>{t("app.retry")}</Button>
        </main>
      );
    case "known":
      return (
        <Viewer.Provider value={login.me}>
          <Shell freeze={freeze} signedOut={setNobody} />
          <Announce me={login.me} />
        </Viewer.Provider>
      );
  }
}
