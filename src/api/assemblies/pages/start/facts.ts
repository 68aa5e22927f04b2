import type { ComparedFacts, Deployment } from '#api/registry/pages/run/compared.ts';
import { schemaOf } from '#api/registry/pages/version/variables-table.ts';
import { environmentField, readEnvironmentChoices } from '#api/tenancy/pages/environment-choices.ts';
import type { Choices } from '#api/web/forms/fields/choices.ts';
import { readChoice } from '#api/web/forms/named-choices.ts';
import { withoutRequired } from '#api/web/forms/schema/plan/node.ts';
import { planForm } from '#api/web/forms/schema/plan/plan.ts';
import { secretPart } from '#api/web/forms/schema/variables.ts';
import { orNull } from '#api/web/visit/or-null.ts';
import { readableNodes } from '#domain/assemblies/spec/draft-nodes.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { getRun, listRuns, run } from '../../run-operations.ts';
import { get as getVersion, list as listVersions } from '../../version-operations.ts';
import {
  type AssemblySubject,
  type AssemblyVisit,
  type ListedAssemblyRun,
  readAssembly,
  type ShownAssemblyRun,
  type ShownVersion,
} from '../views.ts';
import { type NodeInstance, readNodeInstances } from './node-instances.ts';

/** Everything from which the form for an assembly run is made. */
export interface StartFacts extends ComparedFacts {
  readonly assembly: AssemblySubject;
  /** Null if no version is published. */
  readonly version: ShownVersion | null;
  readonly versions: readonly string[];
  readonly hasMoreVersions: boolean;
  /** The keys of the nodes, in the order of the spec. */
  readonly nodes: readonly string[];
  /** The run to repeat, if the address names one. Its secrets are not taken over. */
  readonly repeated: ShownAssemblyRun | null;
  /** The values of the repeated run's variables. */
  readonly values: AssemblyDeployment['values'];
  /** What the run replaces in the chosen environment. Null for a destroy. */
  readonly replaced: AssemblyDeployment | null;
  /** The instances that already exist where the nodes deploy. */
  readonly instances: readonly NodeInstance[];
  readonly environments: Choices;
}

interface ChosenTarget {
  readonly version?: string | undefined;
  readonly operation?: string | undefined;
  /** As the field sent it: a name, if the field does not offer all environments. */
  readonly environment?: string | undefined;
}

/** Reads everything from which the form is made. `chosen` is what the visitor chose in it, if anything. */
export async function readStartFacts(visit: AssemblyVisit, chosen: ChosenTarget): Promise<StartFacts> {
  const { id } = visit.params;
  const from = visit.query('from');
  const [assembly, repeated, { versions, next_cursor: older }] = await Promise.all([
    readAssembly(visit),
    from ? visit.read(getRun, { params: { id, runID: from } }) : null,
    visit.read(listVersions, { params: { id }, query: { limit: '50' } }),
  ]);
  const wanted = chosen.version || repeated?.version || 'latest';
  const environment = chosen.environment ?? repeated?.environment_id ?? '';
  const [version, environments] = await Promise.all([
    assembly.latest_version === null ? null : visit.read(getVersion, { params: { id, version: wanted } }),
    readEnvironmentChoices(visit, { teamId: assembly.team_id, alsoId: environment, operation: run }),
  ]);
  const spec = version?.spec ?? {};
  const planned = planForm(schemaOf(spec));
  const isDestroy = (chosen.operation ?? repeated?.operation) === 'destroy';
  return {
    assembly,
    version,
    versions: versions.map((each) => each.version),
    hasMoreVersions: older !== null,
    // A destroy takes its variables from the deployment.
    root: isDestroy ? withoutRequired(planned) : planned,
    nodes: Object.keys(readableNodes(spec as JsonValue)),
    repeated,
    values: repeated ? (await readValues(visit, repeated)).values : {},
    ...(await readTarget(visit, { version, environments, environment, isDestroy })),
    environments,
    deployed: null,
    source: null,
    inherited: null,
  };
}

/** Reads what already exists in the chosen environment. */
async function readTarget(
  visit: AssemblyVisit,
  wanted: {
    readonly version: ShownVersion | null;
    readonly environments: Choices;
    readonly environment: string;
    readonly isDestroy: boolean;
  },
): Promise<Pick<StartFacts, 'replaced' | 'instances'>> {
  const { version, environments, environment, isDestroy } = wanted;
  const chosen = await readChoice(visit, environmentField(environments), environment);
  if (!('value' in chosen) || chosen.value === '' || !version) return { replaced: null, instances: [] };
  const [replaced, instances] = await Promise.all([
    isDestroy ? null : readAssemblyDeployment(visit, chosen.value),
    readNodeInstances(visit, version, chosen.value),
  ]);
  return { replaced, instances };
}

/** The variables of a run that deployed an assembly. */
interface AssemblyDeployment extends Deployment {
  readonly run: ListedAssemblyRun;
}

/**
 * Reads the variables of the last run that deployed something. Null if no run has deployed anything in the environment, if everything was
 * destroyed since, or if the visitor may not know the run.
 */
async function readAssemblyDeployment(visit: AssemblyVisit, environmentId: string): Promise<AssemblyDeployment | null> {
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
async function readValues(visit: AssemblyVisit, run: ListedAssemblyRun): Promise<AssemblyDeployment> {
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
