import type { AllowedTools } from '#domain/settings/allowed-tools.ts';
import { rangesOf } from '#domain/settings/tools.ts';
import { Unprocessable } from '#domain/shared/errors.ts';
import type { FilesTools } from '#domain/tools/demand.ts';
import { type ToolChoice, toolsThatMayRun } from './usable-tools.ts';

/**
 * Refuses a template that no allowed tool could run. Versions of tools are checked when a worker is chosen, since only workers know theirs.
 * Templates that no tool could run are refused elsewhere.
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
