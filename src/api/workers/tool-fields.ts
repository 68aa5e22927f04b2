import type { FormField } from '#api/web/forms/fields/form-field.ts';
import type { Typed } from '#api/web/forms/form-page.ts';
import { Invalid } from '#domain/shared/errors.ts';
import { toolNames } from '#domain/tools/model.ts';
import type { OfferedTool } from '#domain/workers/offered-tools.ts';
import { describeTool } from './tool-words.ts';

/**
 * The fields for a tool and its versions, with the tools that workers offer. If `unchosen` is a text, the choice is optional, and the text
 * says what applies without one.
 * @param path the path of the tool in the operation's body
 */
export function toolFields(offered: readonly OfferedTool[], unchosen: string | null, path = 'tool'): FormField[] {
  const suggestions = offered.map((tool) => ({ value: tool.version, label: describeTool(tool) }));
  const names = toolNames.map((value) => ({ value, label: labelOf(offered, value) }));
  return [
    {
      name: `${path}.name`,
      label: 'Tool',
      kind: 'select',
      choices: unchosen === null ? names : [{ value: '', label: unchosen }, ...names],
      hint: [describeOffer(offered), describeMissing(offered), 'Templates that run commands need no tool.']
        .filter((sentence) => sentence !== '')
        .join(' '),
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

/** Whether a worker has any version of a tool now. */
export function isOffered(offered: readonly OfferedTool[], name: string): boolean {
  return offered.some((tool) => tool.name === name);
}

function labelOf(offered: readonly OfferedTool[], name: string): string {
  return isOffered(offered, name) ? describeTool({ name }) : `${describeTool({ name })} (no live worker has it)`;
}

/** Says what happens to runs with tools that no worker has; empty if workers have all tools. */
function describeMissing(offered: readonly OfferedTool[]): string {
  const missing = toolNames.filter((name) => !isOffered(offered, name)).map((name) => describeTool({ name }));
  if (missing.length === 0) return '';
  return `A run that needs ${missing.join(' or ')} waits until a worker has it, and other runs of its instance wait behind it.`;
}

/** The tool that was typed; null if none was chosen. @throws Invalid for versions without a tool */
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
