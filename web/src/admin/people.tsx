// People as configured: their roles, and the accounts by which chats know them.

import * as api from "../api";
import { Who } from "../components";
import { Chip } from "../foreign";
import { t } from "../i18n";
import { AdminPanel, useReading } from "./read";

export function People() {
  const reading = useReading(api.people);
  return (
    <AdminPanel title={t("admin.people")} reading={reading}>
      {reading.value ? (
        <table class="table stacks">
          <thead>
            <tr>
              <th scope="col">{t("figures.person")}</th>
              <th scope="col">{t("people.roles")}</th>
              <th scope="col">{t("people.identities")}</th>
              <th scope="col">{t("tokens.title")}</th>
            </tr>
          </thead>
          <tbody>
            {reading.value.items.map((person) => (
              <tr key={person.id} data-person={person.id}>
                <td>
                  <span class="bulk-call">
                    <Who name={person.name} /> <b>{person.name}</b> <code class="muted">{person.id}</code>
                  </span>
                </td>
                <td data-label={t("people.roles")}>{person.roles.join(", ") || "–"}</td>
                <td data-label={t("people.identities")}>
                  {person.identities.length === 0 ? t("people.no_account") : person.identities.map((one) => <span key={`${one.channel} ${one.account}`}>{one.channel} <Chip text={one.account} /> </span>)}
                </td>
                <td data-label={t("tokens.title")}>{person.tokens}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : null}
      <p class="admin-note hint">{t("people.note")}</p>
    </AdminPanel>
  );
}
