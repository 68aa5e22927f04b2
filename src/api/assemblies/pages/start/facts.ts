import { readEnvironmentChoices } from '#api/environments/pages/environment-choices.ts';
import { schemaOf } from '#api/registry/pages/version/variables-table.ts';
import type { Choices } from '#api/web/forms/fields/choices.ts';
import { type ObjectNode, withoutRequired } from '#api/web/forms/schema/plan/node.ts';
import { planForm } from '#api/web/forms/schema/plan/plan.ts';
import { readableNodes } from '#domain/assemblies/spec/draft-nodes.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { getRun } from '../../run-operations.ts';
import { get as getVersion, list as listVersions } from '../../version-operations.ts';
import {
  type AssemblySubject,
  type AssemblyVisit,
  readAssembly,
  type ShownAssemblyRun,
  type ShownVersion,
} from '../shown.ts';

/** What the form for an assembly run is made from. */
export interface StartFacts {
  readonly assembly: AssemblySubject;
  /** Null: nothing is published. */
  readonly version: ShownVersion | null;
  readonly versions: readonly string[];
  readonly hasMoreVersions: boolean;
  /** The variables of the version. */
  readonly root: ObjectNode;
  /** The keys of the nodes, in the order of the spec. */
  readonly nodes: readonly string[];
  /** The run that is repeated, if the address names one. */
  readonly source: ShownAssemblyRun | null;
  readonly environments: Choices;
}

/** `chosen` is the version that was chosen in the form, if any was. */
export async function readStartFacts(
  visit: AssemblyVisit,
  chosen: string | undefined,
  operation: string | undefined,
): Promise<StartFacts> {
  const { id } = visit.params;
  const from = visit.query('from');
  const [assembly, source, { versions, next_cursor: older }] = await Promise.all([
    readAssembly(visit),
    from ? visit.read(getRun, { params: { id, runID: from } }) : null,
    visit.read(listVersions, { params: { id }, query: { limit: '50' } }),
  ]);
  const wanted = chosen || source?.version || 'latest';
  const [version, environments] = await Promise.all([
    assembly.latest_version === null ? null : visit.read(getVersion, { params: { id, version: wanted } }),
    readEnvironmentChoices(visit, {
      teamId: assembly.team_id,
      alsoId: source?.environment_id ?? visit.query('environment_id'),
    }),
  ]);
  const spec = version?.spec ?? {};
  const planned = planForm(schemaOf(spec));
  return {
    assembly,
    version,
    versions: versions.map((each) => each.version),
    hasMoreVersions: older !== null,
    // A destroy takes the variables from what was deployed.
    root: (operation ?? source?.operation) === 'destroy' ? withoutRequired(planned) : planned,
    nodes: Object.keys(readableNodes(spec as JsonValue)),
    source,
    environments,
  };
}
