import type { Em } from '#database/database.ts';
import { isKeepable, type KeptModules } from '#domain/registry/kept-modules/model.ts';
import { findTeamOfVersion, keepModules } from '#domain/registry/kept-modules/store.ts';
import type { Run, RunAttempt } from '../entity.ts';

/** What a plan resolved modules to. */
export interface PlannedModules extends KeptModules {
  /** Nothing but the version and the connections decided it: the run had no variables of the environment. */
  readonly isPlain: boolean;
}

/**
 * Keeps the modules of a plan for later runs. They count for all runs of the version only if nobody but those who may publish it could choose them: the template is of the
 * run's own team, and no variable of the environment could lead git elsewhere. Otherwise they count for the environment.
 */
export async function keepPlannedModules(
  em: Em,
  run: Run,
  { startedAt }: RunAttempt,
  { isPlain, ...modules }: PlannedModules,
): Promise<void> {
  const { tool, templateVersionId: versionId, environmentId = null, teamId = null } = run;
  if (!tool || !isKeepable(modules)) return;
  const isOfTeam = isPlain && teamId !== null && (await findTeamOfVersion(em, versionId)) === teamId;
  if (!isOfTeam && environmentId === null) return;
  const place = { versionId, tool: tool.name, environmentId: isOfTeam ? null : environmentId };
  await keepModules(em, place, { fetchedFor: environmentId, since: startedAt }, modules);
}
