// Agents and the tools that they are offered, as configured.

import * as api from "../api";
import { Chip } from "../foreign";
import { t, word } from "../i18n";
import { AdminPanel, useReading } from "./read";

export function Agents() {
  const reading = useReading(api.agents);
  const agents = reading.value?.items ?? [];
  return (
    <>
      {reading.value && agents.length === 0 ? <p class="admin-empty muted">{t("agents.none")}</p> : null}
      {(reading.value ? agents : [{ id: t("admin.agents"), tools: [] }]).map((agent) => (
        <AdminPanel key={agent.id} title={agent.id} aside={<span class="muted">{t("agents.tools", { n: agent.tools.length })}</span>} reading={reading}>
          <table class="table tools stacks">
            <thead>
              <tr>
                <th scope="col">{t("view.label.tool")}</th>
                <th scope="col">{t("view.label.effects")}</th>
                <th scope="col">{t("agents.description")}</th>
              </tr>
            </thead>
            <tbody>
              {agent.tools.map((tool) => (
                <tr key={tool.name} data-tool={tool.name}>
                  <td>
                    <Chip text={tool.name} />
                  </td>
                  <td data-label={t("view.label.effects")}>{tool.effects ? word("hold.effects", tool.effects) : "–"}</td>
                  <td>{tool.description ? <Chip text={tool.description} /> : "–"}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </AdminPanel>
      ))}
    </>
  );
}
