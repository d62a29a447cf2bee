// Grants: calls that run without asking, and the way to take one back.

import { useState } from "preact/hooks";
import * as api from "../api";
import { Button, Pill, toast } from "../components";
import { Chip } from "../foreign";
import { Moment } from "../holds/facts";
import { Refusal } from "../holds/refusal";
import { t } from "../i18n";
import { holdPath, sessionPath } from "../route";
import { personName, useMe } from "../who";
import type { Grant, GrantMatches } from "../wire";
import { AdminPanel, useReading } from "./read";

export function Grants() {
  const reading = useReading(api.grants);
  const grants = [...(reading.value?.items ?? [])].sort((a, b) => Number(a.revoked) - Number(b.revoked));
  const active = grants.filter((grant) => !grant.revoked).length;
  return (
    <AdminPanel title={t("grants.title")} aside={<span class="muted">{t("grants.active", { n: active })}</span>} reading={reading}>
      {reading.value && grants.length === 0 ? <p class="admin-empty muted">{t("grants.none")}</p> : null}
      {grants.length > 0 ? (
        <table class="table stacks">
          <thead>
            <tr>
              <th scope="col">{t("grants.covers")}</th>
              <th scope="col">{t("grants.by")}</th>
              <th scope="col">{t("grants.ends")}</th>
              <th scope="col">{t("grants.left")}</th>
              <th scope="col">
                <span class="sr">{t("grants.revoke")}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {grants.map((grant) => (
              <GrantRow key={grant.id} grant={grant} again={reading.again} />
            ))}
          </tbody>
        </table>
      ) : null}
      <p class="admin-note hint">{t("grants.note")}</p>
    </AdminPanel>
  );
}

function GrantRow({ grant, again }: { grant: Grant; again: () => void }) {
  const me = useMe();
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<api.Refused | null>(null);
  const revoke = () => {
    setBusy(true);
    api.revokeGrant(grant.id).then(
      () => {
        toast({ icon: "cancelled", text: t("grants.revoked.done") });
        again();
      },
      (problem: unknown) => {
        setBusy(false);
        if (problem instanceof api.Refused) setRefused(problem);
      },
    );
  };
  return (
    <tr data-grant={grant.id} data-revoked={grant.revoked}>
      <td>
        <Chip text={grant.tool} /> {grant.args === null ? t("grants.same") : <Chip text={grant.covers} />}
        <small>
          <a href={sessionPath(grant.session)}>{t("hold.session")}</a> · <a href={holdPath(grant.hold)}>{t("grants.hold")}</a>
        </small>
        <Matches grant={grant} />
        {refused ? <Refusal problem={refused} /> : null}
      </td>
      <td data-label={t("grants.by")}>
        {personName(grant.by, me)}, <Moment at={grant.made_at} />
      </td>
      <td data-label={t("grants.ends")}>
        <Moment at={grant.expires_at} />
      </td>
      <td data-label={t("grants.left")}>{t("grants.uses", { n: grant.uses_left })}</td>
      <td class="table-end">
        {grant.revoked ? (
          <Pill>{t("grants.revoked")}</Pill>
        ) : (
          <Button small kind="danger" disabled={busy} onClick={revoke}>
            {t("grants.revoke")}
          </Button>
        )}
      </td>
    </tr>
  );
}

/** What it would have let through last month, asked for when somebody wants to know. */
function Matches({ grant }: { grant: Grant }) {
  const [found, setFound] = useState<GrantMatches | "busy" | null>(null);
  const [refused, setRefused] = useState<api.Refused | null>(null);
  const look = () => {
    setFound("busy");
    setRefused(null);
    api.grantMatches(grant.id).then(setFound, (problem: unknown) => {
      setFound(null);
      if (problem instanceof api.Refused) setRefused(problem);
    });
  };
  if (refused) return <Refusal problem={refused} />;
  if (found === null || found === "busy") {
    return (
      <button type="button" class="link" disabled={found === "busy"} onClick={look}>
        {t("grants.matches")}
      </button>
    );
  }
  return (
    <div data-testid="matches" role="status">
      <small>
        {t("grants.matches.count", { n: found.count, all: found.looked_at })}
        {found.complete ? "" : ` ${t("figures.incomplete")}`}
      </small>
      <ul class="plain-list">
        {found.matches.map((match) => (
          <li key={match.hold}>
            <Moment at={match.opened_at} /> <a href={holdPath(match.hold)}>{t(`state.${match.state}`)}</a> <Chip text={match.title} />
          </li>
        ))}
      </ul>
    </div>
  );
}
