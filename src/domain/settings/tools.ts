import { isInRanges, parseRange } from '#domain/tools/ranges.ts';
import { type AllowedTools, allReleases } from './allowed-tools.ts';

/** Whether the settings allow a tool in a version. Undefined: they allow all. */
export function isToolAllowed(allowed: AllowedTools | undefined, tool: { name: string; version: string }): boolean {
  if (allowed === undefined) return true;
  return rangesOf(allowed, tool.name).some((range) => isInRange(tool.version, range));
}

/** The ranges of a tool that the settings allow; none: it is not allowed. */
export function rangesOf(allowed: AllowedTools, name: string): readonly string[] {
  return Object.entries(allowed).find(([tool]) => tool === name)?.[1] ?? [];
}

function isInRange(version: string, text: string): boolean {
  const range = parseRange(text === allReleases ? '>= 0' : text);
  return range !== undefined && isInRanges(version, [range]);
}
