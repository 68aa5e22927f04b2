import semver from 'semver';
import type { TemplateSpec } from '#domain/registry/spec.ts';
import { Unprocessable } from '#domain/shared/errors.ts';
import type { AllowedTools } from './document.ts';

/** Whether the settings allow a tool in a version. Undefined: they allow all. */
export function isToolAllowed(allowed: AllowedTools | undefined, tool: { name: string; version: string }): boolean {
  if (allowed === undefined) return true;
  return rangesOf(allowed, tool.name).some((range) => semver.satisfies(tool.version, range));
}

/**
 * Refuses a template that no allowed tool could run. Versions count when a worker is chosen, since only workers have them.
 * @throws Unprocessable naming the tools that are allowed
 */
export function refuseOtherTools(
  allowed: AllowedTools | undefined,
  { executor }: Pick<TemplateSpec, 'executor'>,
): void {
  if (allowed === undefined) return;
  const usable = executor.kind === 'command' ? ['command'] : ['opentofu', 'terraform'];
  if (usable.some((name) => rangesOf(allowed, name).length > 0)) return;
  throw new Unprocessable(
    `executor: the settings of the installation allow only ${Object.keys(allowed).join(' and ')}, and this template needs ${usable.join(' or ')}`,
    { code: 'tool_not_allowed' },
  );
}

function rangesOf(allowed: AllowedTools, name: string): readonly string[] {
  return Object.entries(allowed).find(([tool]) => tool === name)?.[1] ?? [];
}
