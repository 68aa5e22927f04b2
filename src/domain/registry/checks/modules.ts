import type { Em } from '#database/database.ts';
import { isKeepable, type KeptModules } from '../kept-modules/model.ts';
import { keepModules } from '../kept-modules/store.ts';

/** The modules from elsewhere that a check resolved, and what decided about them. */
export interface CheckedModules {
  readonly modules: KeptModules;
  /** The kind of tool that resolved them. */
  readonly tool: string;
  /** The environment whose connections the check had; null: none. */
  readonly environmentId: string | null;
}

/**
 * Keeps the modules of a check for the version. A check has no variables, so that the version, and the connections of the environment that it names, alone decided about them. They count for all
 * runs of the version if nobody but its own team had a part in that. What the whole installation uses gets nothing that was read with the connections of one team:
 * that would show its private modules to all others.
 */
export async function keepCheckedModules(
  em: Em,
  version: { readonly id: string; readonly teamId: string | null },
  { modules, tool, environmentId }: CheckedModules,
): Promise<void> {
  if (!isKeepable(modules)) return;
  const ofAll = version.teamId !== null || environmentId === null;
  await keepModules(em, { versionId: version.id, tool, environmentId: ofAll ? null : environmentId }, modules);
}
