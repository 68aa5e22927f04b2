import { get as getEnvironment } from '#api/environments/operations.ts';
import { orNull } from '#api/web/visit/or-null.ts';
import { loadVersionById } from '#domain/registry/published.ts';
import { readToolDemand } from '#domain/runs/admission/tool-demand.ts';
import { readSettings } from '#domain/settings/store.ts';
import { isToolAllowed } from '#domain/settings/tools.ts';
import { Conflict } from '#domain/shared/errors.ts';
import type { RunOperation } from '#domain/shared/vocabulary/runs.ts';
import { bestMeant, meetsDemand, type ToolDemand, toWantedTools } from '#domain/tools/demand.ts';
import type { VersionedTool, WantedTool } from '#domain/tools/model.ts';
import type { ShownFit } from '../../worker-fit.ts';
import type { ShownVersion } from '../views.ts';
import type { RunFormVisit } from './form-visit.ts';

/** The target of the form's run. */
interface Place {
  /** Empty: outside of any environment. */
  readonly environmentId: string;
  /** The name of its instance. */
  readonly name: string;
  readonly operation: string | undefined;
}

/**
 * Finds the workers that could execute the form's run now, considering everything that limits its tool: version, environment, instance and
 * state. Null: its steps need no tool, the pool is hidden, or admission would refuse the run.
 */
export async function readFitOfRun(
  visit: RunFormVisit,
  version: ShownVersion | null,
  place: Place,
): Promise<ShownFit | null> {
  if (!version?.workers) return null;
  const { offered } = version.workers;
  const demand = await readDemand(visit, version, place);
  if (demand === null) return null;
  const { document: settings } = await readSettings(visit.em);
  const mayUse = (tool: VersionedTool) => place.operation === 'destroy' || isToolAllowed(settings.allowed_tools, tool);
  const usable = offered.filter((tool) => meetsDemand(demand, tool) && mayUse(tool));
  const best = bestMeant(demand, usable);
  return {
    ...version.workers,
    wanted: toWantedTools(demand),
    tool: best ? { name: best.name, version: best.version } : null,
    workers: best?.workers ?? 0,
  };
}

async function readDemand(
  visit: RunFormVisit,
  { id }: ShownVersion,
  { environmentId, name: instance, operation }: Place,
): Promise<ToolDemand | null> {
  const [version, environment] = await Promise.all([
    loadVersionById(visit.em, id),
    environmentId ? orNull(visit.read(getEnvironment, { params: { id: environmentId } })) : null,
  ]);
  // The demand of an instance in an environment would reveal its tool to a visitor who may not read the environment.
  if (environmentId && !environment) return null;
  const tool = (environment?.tool ?? null) as WantedTool | null;
  const target = { templateId: visit.params.id, environmentId: environmentId || null, tool };
  const asked = { target, version, instance, operation: (operation ?? 'apply') as RunOperation };
  return readToolDemand(visit.em, asked).catch((error: unknown) => {
    if (error instanceof Conflict) return null;
    throw error;
  });
}
