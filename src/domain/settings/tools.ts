import { type ToolChoice, toolsThatMayRun } from '#domain/registry/usable-tools.ts';
import { Unprocessable } from '#domain/shared/errors.ts';
import type { FilesTools } from '#domain/tools/demand.ts';
import { isInRanges, parseRange } from '#domain/tools/ranges.ts';
import { type AllowedTools, allReleases } from './allowed-tools.ts';

/** Whether the settings allow a tool in a version. Undefined: they allow all. */
export function isToolAllowed(allowed: AllowedTools | undefined, tool: { name: string; version: string }): boolean {
  if (allowed === undefined) return true;
  return rangesOf(allowed, tool.name).some((range) => isInRange(tool.version, range));
}

/**
 * Refuses a template that no allowed tool could run. Versions count when a worker is chosen, since only workers have them. That no tool at all could
 * run it is refused elsewhere.
 * @throws Unprocessable naming the tools that are allowed
 */
export function refuseOtherTools(allowed: AllowedTools | undefined, spec: ToolChoice, files: FilesTools): void {
  if (allowed === undefined) return;
  const usable: readonly string[] = spec.executor.kind === 'command' ? ['command'] : toolsThatMayRun(spec, files);
  if (usable.length === 0) return;
  if (usable.some((name) => rangesOf(allowed, name).length > 0)) return;
  throw new Unprocessable(
    `executor: the settings of the installation allow only ${Object.keys(allowed).join(' and ')}, and this template needs ${usable.join(' or ')}`,
    { code: 'tool_not_allowed' },
  );
}

function rangesOf(allowed: AllowedTools, name: string): readonly string[] {
  return Object.entries(allowed).find(([tool]) => tool === name)?.[1] ?? [];
}

function isInRange(version: string, text: string): boolean {
  const range = parseRange(text === allReleases ? '>= 0' : text);
  return range !== undefined && isInRanges(version, [range]);
}
