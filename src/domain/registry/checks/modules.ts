import type { Em } from '#database/database.ts';
import { isKeepable, type KeptModules } from '../kept-modules/model.ts';
import { keepModules } from '../kept-modules/store.ts';

/** The external modules that a kind of tool resolved. Different tools may choose different modules, and write their sources differently. */
export interface ToolModules {
  /** The kind of tool. */
  readonly tool: string;
  readonly modules: KeptModules;
}

/** The external modules that a check resolved, and the conditions under which it did. */
export interface CheckedModules {
  /** One entry for each tool that may run the version and could fetch all modules. */
  readonly resolved: readonly ToolModules[];
  /** The environment whose connections the check had; null: none. */
  readonly environmentId: string | null;
  /** When the check was requested from a worker. */
  readonly startedAt: Date | string;
}

/**
 * Keeps the modules of a check for the version. A check has no variables, so only the version and the connections of the named environment
 * decided which modules it found. All runs of the version may use them if only its own team was involved. A template of the whole
 * installation gets nothing that was read with the connections of one team, because that would show the team's private modules to all
 * others.
 */
export async function keepCheckedModules(
  em: Em,
  version: { readonly id: string; readonly teamId: string | null },
  { resolved, environmentId, startedAt }: CheckedModules,
): Promise<void> {
  const ofAll = version.teamId !== null || environmentId === null;
  for (const { tool, modules } of resolved.filter((each) => isKeepable(each.modules))) {
    const place = { versionId: version.id, tool, environmentId: ofAll ? null : environmentId };
    await keepModules(em, place, { fetchedFor: environmentId, since: startedAt }, modules);
  }
}
