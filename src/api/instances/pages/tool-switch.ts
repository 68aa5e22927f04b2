import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { isOffered, readTool, toolFields } from '#api/workers/tool-fields.ts';
import { describeTool } from '#api/workers/tool-words.ts';
import { toolNames } from '#domain/tools/model.ts';
import { findOfferedTools, type OfferedTool } from '#domain/workers/offered-tools.ts';
import { switchTool } from '../tool-operations.ts';
import { instanceForm } from './forms.ts';

/** The tool to which an instance can be switched. */
export function otherTool(tool: string | null): string {
  return toolNames.find((name) => name !== tool) ?? toolNames[0];
}

/** The form that switches an instance to another tool. */
export const toolSwitchForm = instanceForm(pages.switchTool, 'switch_tool', {
  describe: async (instance, visit) => {
    const { name, tool } = instance;
    const user = { teamId: instance.team_id, environmentId: instance.environment_id };
    const values: Readonly<Record<string, string>> = { 'tool.name': otherTool(tool) };
    const offered = await findOfferedTools(visit.em, user);
    const fields = toolFields(offered, null);
    return {
      title: `Switch the tool of ${name}`,
      lead: html`<p>${describePresent(instance)} A run plans the last deployment with the tool that you choose, and applies nothing. If the plan has no changes and is approved, later runs use that tool. Otherwise the run fails and shows what would change, and the instance keeps its tool.</p>${warnOfMissing(offered, otherTool(tool))}`,
      fields: fields.map((field) => ({ ...field, value: values[field.name] })),
      submit: 'Plan the switch',
    };
  },
  carryOut: async ({ id }, typed, visit) => {
    const run = await visit.run(switchTool, { params: { id }, body: { tool: readTool(typed) } });
    return pagePath(pages.run, { id: run.id });
  },
});

/**
 * Warns of a switch whose run would wait for a worker with the tool and keep all other runs of the instance waiting. Null if a worker has
 * the tool.
 */
function warnOfMissing(offered: readonly OfferedTool[], name: string): Html | null {
  if (isOffered(offered, name)) return null;
  return html`<p><strong>No live worker has ${describeTool({ name })}.</strong> The run would wait until a worker has it. All other runs of the instance would wait behind it, until somebody cancels it.</p>`;
}

function describePresent({
  tool,
  tool_version: version,
}: {
  tool: string | null;
  tool_version: string | null;
}): string {
  return tool === null ? '' : `${describeTool({ name: tool, version: version ?? undefined })} wrote its state.`;
}
