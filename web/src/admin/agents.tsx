// Agents and the tools that they are offered, as configured: what each does when it is interrupted, and on demand what it takes.

import * as api from "../api";
import { Pill } from "../components";
import { Chip, Quoted } from "../foreign";
import { t, word } from "../i18n";
import type { Agent, ConfiguredTool } from "../wire";
import { AdminPanel, useReading } from "./read";

type OfferedTool = Agent["tools"][number];

export function Agents() {
  const reading = useReading(api.agents);
  const configured = useReading(api.tools).value?.items ?? [];
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
                <ToolRow key={tool.name} tool={tool} known={configured.find((one) => one.name === tool.name)} />
              ))}
            </tbody>
          </table>
        </AdminPanel>
      ))}
    </>
  );
}

function ToolRow({ tool, known }: { tool: OfferedTool; known: ConfiguredTool | undefined }) {
  return (
    <tr data-tool={tool.name}>
      <td>
        <Chip text={tool.name} />
        <span class="tool-flags">
          {known?.place === "client" ? <Pill>{t("agents.client")}</Pill> : null}
          {known?.two_phase ? <Pill>{t("agents.two_phase")}</Pill> : null}
        </span>
      </td>
      <td data-label={t("view.label.effects")}>{tool.effects ? word("hold.effects", tool.effects) : "–"}</td>
      <td>
        {tool.description ? <Quoted text={tool.description} prose /> : "–"}
        {known ? (
          <details class="tool-more">
            <summary>{t("agents.schema")}</summary>
            <div>
              <Quoted text={JSON.stringify(known.schema, null, 2)} code="json" />
            </div>
          </details>
        ) : null}
      </td>
    </tr>
  );
}
