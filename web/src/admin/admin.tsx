// `/admin`: what admins look after. Everything here is judged again by the server.

import { useEffect, useRef, useState } from "preact/hooks";
import * as api from "../api";
import { Button, Field, Sheet, toast } from "../components";
import { Refusal } from "../holds/refusal";
import { Icon } from "../icons";
import { t, type Key } from "../i18n";
import { isAdmin, useMe } from "../who";
import { Agents } from "./agents";
import { Audit } from "./audit";
import { Channels } from "./channels";
import { Figures } from "./figures";
import { Grants } from "./grants";
import { People } from "./people";
import { Policy } from "./policy";
import { Tokens } from "./tokens";

const TABS = [
  { id: "grants", name: "admin.grants", View: Grants },
  { id: "policy", name: "admin.policy", View: Policy },
  { id: "people", name: "admin.people", View: People },
  { id: "tokens", name: "admin.tokens", View: Tokens },
  { id: "agents", name: "admin.agents", View: Agents },
  { id: "channels", name: "admin.channels", View: Channels },
  { id: "audit", name: "admin.audit", View: Audit },
  { id: "figures", name: "admin.figures", View: Figures },
] as const satisfies readonly { id: string; name: Key; View: () => unknown }[];

export default function Admin({ tab, frozen }: { tab: string; frozen: boolean }) {
  const me = useMe();
  const [freezing, setFreezing] = useState(false);
  const current = TABS.find((one) => one.id === tab) ?? TABS[0];
  const tabs = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a phone the tabs are longer than the screen.
    tabs.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [current]);
  if (!isAdmin(me)) return <p class="empty">{t("admin.not_you")}</p>;
  return (
    <div class="wide-page admin">
      <header class="admin-head">
        <h1 tabIndex={-1}>{t("nav.admin")}</h1>
        <Button disabled={frozen} onClick={() => setFreezing(true)}>
          <Icon name="frozen" />
          {t("freeze.open")}
        </Button>
      </header>
      <nav class="tabs" ref={tabs} aria-label={t("nav.admin")}>
        {TABS.map((one) => (
          <a key={one.id} href={`/admin/${one.id}`} aria-current={one === current ? "page" : undefined}>
            {t(one.name)}
          </a>
        ))}
      </nav>
      <current.View key={current.id} />
      {freezing ? <FreezeSheet close={() => setFreezing(false)} /> : null}
    </div>
  );
}

/** Stopping everything takes a reason, for those who find it stopped. */
function FreezeSheet({ close }: { close: () => void }) {
  const [reason, setReason] = useState("");
  const [missing, setMissing] = useState(false);
  const [refused, setRefused] = useState<api.Refused | null>(null);
  const send = () => {
    if (reason.trim() === "") return setMissing(true);
    api.startFreeze(reason.trim()).then(
      () => {
        toast({ icon: "frozen", text: t("freeze.done") });
        close();
      },
      (problem: unknown) => problem instanceof api.Refused && setRefused(problem),
    );
  };
  return (
    <Sheet
      name="freeze"
      title={t("freeze.title")}
      close={close}
      footer={
        <>
          <Button kind="danger-solid" onClick={send}>
            {t("freeze.submit")}
          </Button>
          <Button onClick={close}>{t("answer.cancel")}</Button>
        </>
      }
    >
      <p>{t("freeze.note")}</p>
      <Field label={t("freeze.reason")} error={missing && reason.trim() === "" ? t("fill.missing") : null}>
        <textarea name="reason" rows={2} value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
      </Field>
      {refused ? <Refusal problem={refused} /> : null}
    </Sheet>
  );
}
