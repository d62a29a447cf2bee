// Before everything may start again: who stopped it and why, once more.

import { useState } from "preact/hooks";
import type { Refused } from "../api";
import { Button, Sheet } from "../components";
import { Quoted } from "../foreign";
import { Refusal } from "../holds/refusal";
import { t } from "../i18n";
import { Plain } from "../plain";
import type { Freeze } from "../wire";

interface Props {
  freeze: Freeze;
  close: () => void;
  thaw: () => Promise<unknown>;
}

export function ThawSheet({ freeze, close, thaw }: Props) {
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<Refused | null>(null);
  const send = () => {
    setBusy(true);
    thaw().then(close, (problem: Refused) => {
      setBusy(false);
      setRefused(problem);
    });
  };
  return (
    <Sheet
      name="thaw"
      title={t("thaw.title")}
      close={close}
      footer={
        <>
          <Button kind="primary" disabled={busy} onClick={send}>
            {t("thaw.submit")}
          </Button>
          <Button onClick={close}>{t("answer.cancel")}</Button>
        </>
      }
    >
      {freeze.by ? (
        <p>
          <Plain text={t("app.frozen.by", { name: freeze.by })} />
        </p>
      ) : null}
      {freeze.reason ? <Quoted text={freeze.reason} prose /> : null}
      <p>{t("thaw.note")}</p>
      {refused ? <Refusal problem={refused} /> : null}
    </Sheet>
  );
}
