import type { FormField } from '#api/web/forms/fields/form-field.ts';
import type { Typed } from '#api/web/forms/form-page.ts';
import { Invalid } from '#domain/shared/errors.ts';
import { toolNames } from '#domain/tools/model.ts';
import type { OfferedTool } from '#domain/workers/offered-tools.ts';
import { describeTool } from './tool-words.ts';

/**
 * The fields of a tool and its versions, with what workers offer. With `unchosen`, nothing need be chosen: it says what holds then.
 * @param path where the tool is in the operation's body
 */
export function toolFields(offered: readonly OfferedTool[], unchosen: string | null, path = 'tool'): FormField[] {
  const suggestions = offered.map((tool) => ({ value: tool.version, label: describeTool(tool) }));
  const names = toolNames.map((value) => ({ value, label: describeTool({ name: value }) }));
  return [
    {
      name: `${path}.name`,
      label: 'Tool',
      kind: 'select',
      choices: unchosen === null ? names : [{ value: '', label: unchosen }, ...names],
      hint: `${describeOffer(offered)} Templates that run commands need no tool.`,
    },
    {
      name: `${path}.version`,
      label: 'Versions of the tool',
      isOptional: true,
      suggestions: [{ value: '', label: 'any version' }, ...suggestions],
      hint: 'One version, such as 1.11.4, or a range, such as ~> 1.9 or >= 1.5, < 2.0. Empty: any version.',
    },
  ];
}

function describeOffer(offered: readonly OfferedTool[]): string {
  if (offered.length === 0) return 'No worker with a tool is running now.';
  return `Workers have ${offered.map(describeTool).join(', ')}.`;
}

/** The tool that was typed; null: none was chosen. @throws Invalid for versions of no tool */
export function readTool(typed: Typed, path = 'tool'): { name: string; version?: string } | null {
  const { [`${path}.name`]: name = '', [`${path}.version`]: range = '' } = typed;
  const version = range.trim();
  if (name === '' && version !== '') throw new Invalid(`${path}.name: choose the tool that these versions are of`);
  return name === '' ? null : { name, ...(version !== '' && { version }) };
}

/** The values of the fields for a tool. */
export function toolValues(tool: { name: string; version?: string | undefined } | null): Record<string, string> {
  return { 'tool.name': tool?.name ?? '', 'tool.version': tool?.version ?? '' };
}
