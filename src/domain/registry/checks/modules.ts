import type { Em } from '#database/database.ts';
import { isKeepable, type KeptModules } from '../kept-modules/model.ts';
import { keepModules } from '../kept-modules/store.ts';

/** The modules from elsewhere that a kind of tool resolved. The tools may choose other ones, and write their sources in other ways. */
export interface ToolModules {
  /** The kind of tool. */
  readonly tool: string;
  readonly modules: KeptModules;
}

/** The modules from elsewhere that a check resolved, and what decided about them. */
export interface CheckedModules {
  /** One for each tool that may run the version and could fetch all of them. */
  readonly resolved: readonly ToolModules[];
  /** The environment whose connections the check had; null: none. */
  readonly environmentId: string | null;
  /** When a worker was asked for the check. */
  readonly startedAt: Date | string;
}

/**
 * Keeps the modules of a check for the version. A check has no variables, so that the version, and the connections of the environment that it names, alone decided about them. They count for all
 * runs of the version if nobody but its own team had a part in that. What the whole installation uses gets nothing that was read with the connections of one team:
 * that would show its private modules to all others.
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
