import type { Em } from '#database/database.ts';
import { isKeepable, type KeptModules } from '#domain/registry/kept-modules/model.ts';
import { findTeamOfVersion, keepModules } from '#domain/registry/kept-modules/store.ts';
import type { Run, RunAttempt } from '../entity.ts';

/** The modules that a plan resolved. */
export interface PlannedModules extends KeptModules {
  /** Whether only the version and the connections decided the result: the run had no variables of the environment. */
  readonly isPlain: boolean;
}

/**
 * Keeps the modules of a plan for later runs. All runs of the version may use them if only people who may publish the version could choose
 * them: the template belongs to the team of the run, and no variable of the environment could redirect git. Otherwise only runs in the same
 * environment may use them.
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
