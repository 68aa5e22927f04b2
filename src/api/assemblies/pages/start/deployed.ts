import type { Deployment } from '#api/registry/pages/run/differences.ts';
import { schemaOf } from '#api/registry/pages/version/variables-table.ts';
import { planForm } from '#api/web/forms/schema/plan/plan.ts';
import { secretPart } from '#api/web/forms/schema/variables.ts';
import { orNull } from '#api/web/visit/or-null.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { listRuns } from '../../run-operations.ts';
import { get as getVersion } from '../../version-operations.ts';
import type { AssemblyVisit, ListedAssemblyRun } from '../shown.ts';

/** What a run of an assembly has set its variables to. */
export interface AssemblyDeployment extends Deployment {
  readonly run: ListedAssemblyRun;
}

/**
 * Reads what the last run that deployed something set the variables to; null: none has deployed anything in the environment, all of it was destroyed since, or
 * the visitor may not know it.
 */
export async function readAssemblyDeployment(
  visit: AssemblyVisit,
  environmentId: string,
): Promise<AssemblyDeployment | null> {
  if (environmentId === '') return null;
  const list = (query: Record<string, string>) =>
    orNull(visit.read(listRuns, { params: visit.params, query: { environment_id: environmentId, ...query } }));
  const [applies, destroys] = await Promise.all([
    list({ operation: 'apply', limit: '50' }),
    list({ operation: 'destroy', status: 'succeeded', limit: '50' }),
  ]);
  const run = applies?.assembly_runs.find(({ nodes }) => Object.values(nodes).includes('succeeded'));
  const destroy = destroys?.assembly_runs.find(({ only }) => only === null);
  if (!run || (destroy && destroy.id > run.id)) return null;
  return orNull(readValues(visit, run));
}

/** Reads the variables of a run. Its secrets are masked. */
export async function readValues(visit: AssemblyVisit, run: ListedAssemblyRun): Promise<AssemblyDeployment> {
  const { version } = run;
  const { spec } = await visit.read(getVersion, { params: { id: visit.params.id, version } });
  const root = planForm(schemaOf(spec));
  const masked = new Set(secretPart(root).members.map(({ name }) => name));
  const given = Object.entries(run.variables as Record<string, JsonValue>);
  return {
    run,
    version,
    root,
    values: Object.fromEntries(given.filter(([name]) => !masked.has(name))),
    secrets: given.flatMap(([name]) => (masked.has(name) ? [name] : [])),
  };
}
