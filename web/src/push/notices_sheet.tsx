// Where a person wants to be told: in this browser also while the page is closed, by this tab while it is hidden, and which of their
// other browsers are told.

import { useEffect, useState } from "preact/hooks";
import { pushState, removePush } from "../api";
import { Button, Sheet } from "../components";
import { t } from "../i18n";
import { Plain } from "../plain";
import { clock } from "../time";
import type { PushState } from "../wire";
import { canNotify, canPush, desktopOn, pushedHere, setDesktop, turnOff, turnOn } from "./push";

export function NoticesSheet({ close }: { close: () => void }) {
  const [state, setState] = useState<PushState | null>(null);
  const [here, setHere] = useState(pushedHere());
  const [desktop, setDesktopOn] = useState(desktopOn());
  const [busy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState("");
  const read = () => pushState().then(setState, () => setTrouble(t("push.trouble")));
  useEffect(() => void read(), []);
  const act = (done: Promise<boolean>) => {
    setBusy(true);
    setTrouble("");
    done
      .then(
        (taken) => taken || setTrouble(t("push.blocked")),
        () => setTrouble(t("push.trouble")),
      )
      .finally(() => {
        setBusy(false);
        setHere(pushedHere());
        setDesktopOn(desktopOn());
        void read();
      });
  };
  const possible = canPush() && state?.key !== null;
  const others = (state?.items ?? []).filter((one) => one.id !== here);
  return (
    <Sheet name="notices" title={t("push.title")} close={close}>
      <div class="more-list notices">
        <p>{t("push.what")}</p>
        {possible ? (
          <Button disabled={busy} aria-pressed={here !== null} onClick={() => act(here === null ? turnOn() : turnOff().then(() => true))}>
            {t(here === null ? "push.on" : "push.off")}
          </Button>
        ) : (
          <p class="hint">{t(canPush() ? "push.none" : "push.cannot")}</p>
        )}
        {canNotify() && here === null ? (
          <Button disabled={busy} aria-pressed={desktop} onClick={() => act(setDesktop(!desktop))}>
            {t(desktop ? "push.desktop.off" : "push.desktop.on")}
          </Button>
        ) : null}
        {trouble ? <p role="alert">{trouble}</p> : null}
        {others.length > 0 ? <h3>{t("push.others")}</h3> : null}
        <ul class="plain-list">
          {others.map((one) => (
            <li key={one.id}>
              <Plain text={one.name ?? t("push.unnamed")} /> · {clock(one.at)}{" "}
              <button type="button" class="tiny" onClick={() => void removePush(one.id).then(read, read)}>
                {t("push.remove")}
              </button>
            </li>
          ))}
        </ul>
        <Button kind="quiet" onClick={close}>
          {t("app.close")}
        </Button>
      </div>
    </Sheet>
  );
}
