// Channels: where people could not be asked lately, and a test to oneself.

import { useState } from "preact/hooks";
import * as api from "../api";
import { Button } from "../components";
import { Quoted } from "../foreign";
import { Moment } from "../holds/facts";
import { Refusal } from "../holds/refusal";
import { t } from "../i18n";
import { holdPath } from "../route";
import { personName, useMe } from "../who";
import type { ChannelState } from "../wire";
import { AdminPanel, useReading } from "./read";

export function Channels() {
  const reading = useReading(api.channels);
  const channels = reading.value?.items ?? [];
  return (
    <AdminPanel title={t("admin.channels")} reading={reading}>
      {reading.value && channels.length === 0 ? <p class="admin-empty muted">{t("channels.none")}</p> : null}
      <ul>
        {channels.map((channel) => (
          <Channel key={channel.name} channel={channel} />
        ))}
      </ul>
    </AdminPanel>
  );
}

function Channel({ channel }: { channel: ChannelState }) {
  const me = useMe();
  const [sent, setSent] = useState(false);
  const [refused, setRefused] = useState<api.Refused | null>(null);
  const test = () => {
    setSent(false);
    setRefused(null);
    api.testChannel(channel.name).then(
      () => setSent(true),
      (problem: unknown) => problem instanceof api.Refused && setRefused(problem),
    );
  };
  return (
    <li class="admin-empty" data-channel={channel.name}>
      <p class="bulk-call">
        <b>{channel.name}</b> <span class="muted grow">{channel.platform}</span>
        <span role="status">{sent ? t("channels.sent") : ""}</span>
        {channel.talks ? (
          <Button small onClick={test}>
            {t("channels.test")}
          </Button>
        ) : null}
      </p>
      {refused ? <Refusal problem={refused} /> : null}
      {channel.last_errors.map((error, at) => (
        <div key={at}>
          <p>
            <Moment at={error.at} /> <a href={holdPath(error.hold)}>{personName(error.to, me)}</a>
          </p>
          <Quoted text={error.why} />
        </div>
      ))}
    </li>
  );
}
