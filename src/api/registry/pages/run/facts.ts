import { list as listEnvironments } from '#api/environments/operations.ts';
import { list as listVariables } from '#api/environments/variable-operations.ts';
import { getRun } from '#api/runs/operations.ts';
import type { ObjectNode } from '#api/web/forms/schema/plan/node.ts';
import { planForm } from '#api/web/forms/schema/plan/plan.ts';
import { slots } from '#api/web/forms/schema/slots.ts';
import { shorten } from '#api/web/forms/schema/view/hints.ts';
import { orNull } from '#api/web/visit/or-null.ts';
import { Invalid } from '#domain/shared/errors.ts';
import { readNames } from '#domain/tenancy/names-store.ts';
import { get as getTemplate } from '../../template-operations.ts';
import { get as getVersion, list as listVersions } from '../../version-operations.ts';
import type { ListedVersion, ShownTemplate, ShownVersion } from '../shown.ts';
import { schemaOf } from '../version/variables-table.ts';
import { type DeployedFacts, readDeployed, readReplaced } from './deployed.ts';
import type { RunFormVisit, SourceRun } from './form-visit.ts';

interface RunChoices {
  readonly versions: readonly ListedVersion[];
  /** There are older versions than these. */
  readonly hasMoreVersions: boolean;
  readonly environments: readonly { readonly id: string; readonly label: string }[];
  /** There are more environments than these. */
  readonly hasMoreEnvironments: boolean;
}

/** What a form for a run is made from. */
export interface RunFacts extends RunChoices {
  readonly template: ShownTemplate;
  /** Null: nothing is published. */
  readonly version: ShownVersion | null;
  /** The variables of the version. */
  readonly root: ObjectNode;
  /** The run that is copied, if the address names one. */
  readonly source: SourceRun | null;
  /** What is deployed, if the address says to start from it. */
  readonly deployed: DeployedFacts | null;
  /** What a run of the form replaces, if the form does not start from it. */
  readonly replaced: DeployedFacts | null;
  readonly environmentId: string;
  /** What applies to a variable that is left empty instead of its default, by its slot. */
  readonly inherited: ReadonlyMap<string, string>;
  /** Why what was chosen cannot be, by the field. The form is then made for another choice. */
  readonly problems: Readonly<Record<string, string>>;
}

/** The choice of a run without an environment, which must be meant: such a run may belong to nobody. */
export const noEnvironment = 'none';

interface ChosenTarget {
  readonly version?: string | undefined;
  readonly environmentId?: string | undefined;
  readonly instance?: string | undefined;
}

/** Reads what the form is made from. `version` `environmentId` and `instance` are what was chosen in it, if anything was. */
export async function readRunFacts(visit: RunFormVisit, chosen: ChosenTarget): Promise<RunFacts> {
  const { id } = visit.params;
  const from = visit.query('from');
  const [template, source, deployed] = await Promise.all([
    visit.read(getTemplate, { params: { id } }),
    from ? visit.read(getRun, { params: { id: from }, query: {} }) : null,
    from ? null : readDeployed(visit),
  ]);
  if (source && source.template_id !== id) throw new Invalid('from: the run is one of another template');
  const wanted = chosen.version || source?.template_version || 'latest';
  const environmentId = source
    ? (source.environment_id ?? '')
    : deployed
      ? (deployed.environmentId ?? '')
      : chosen.environmentId === noEnvironment
        ? ''
        : (chosen.environmentId ?? '');
  const isPublished = template.latest_version !== null || wanted !== 'latest';
  const [version, choices, given] = await Promise.all([
    isPublished ? readVersion(visit, template, wanted) : null,
    readChoices(visit, template),
    environmentId ? readVariables(visit, environmentId) : null,
  ]);
  const root = planForm(schemaOf(version?.shown?.spec ?? {}));
  const label = choices.environments.find((each) => each.id === environmentId)?.label ?? 'the environment';
  const inherited = describeInherited(given?.variables ?? [], label);
  const isUnknown = { version: version?.isOther, environment_id: environmentId !== '' && !given };
  const problems = Object.fromEntries(
    Object.entries(unknownChoices).filter(([name]) => isUnknown[name as keyof typeof unknownChoices]),
  );
  const target = { ...choices, environmentId: given ? environmentId : '' };
  const isPlaceChosen = environmentId !== '' || Boolean(source) || chosen.environmentId === noEnvironment;
  const isPlaceKnown = (isPlaceChosen || choices.environments.length === 0) && !problems['environment_id'];
  const name = nameOfTarget({ deployed, source, template }, chosen);
  const replaced =
    !deployed && isPlaceKnown ? await readReplaced(visit, { templateId: id, environmentId, name }) : null;
  return {
    template,
    version: version?.shown ?? null,
    root,
    source,
    deployed,
    replaced,
    ...target,
    inherited,
    problems,
  };
}

/** The name of the instance that the run of a form works on. */
export function nameOfTarget(
  { deployed, source, template }: Pick<RunFacts, 'deployed' | 'source' | 'template'>,
  { instance }: { readonly instance?: string | undefined },
): string {
  return deployed?.instance.name ?? (instance || source?.instance || template.slug);
}

/** The versions and environments that the form offers. */
async function readChoices(visit: RunFormVisit, { id, team_id: teamId }: ShownTemplate): Promise<RunChoices> {
  const [{ versions, next_cursor: older }, environments] = await Promise.all([
    visit.read(listVersions, { params: { id }, query: { limit: '50' } }),
    readEnvironments(visit, teamId),
  ]);
  return { versions, hasMoreVersions: older !== null, ...environments };
}

const unknownChoices = {
  version: 'The template has no such version. Choose one of those that are listed.',
  environment_id: "It doesn't exist, or you may not have access to it. Choose another one.",
} as const;

/** Reads the wanted version, or the latest one if there is none such. */
async function readVersion(visit: RunFormVisit, { id, latest_version: latest }: ShownTemplate, wanted: string) {
  const read = (version: string) => visit.read(getVersion, { params: { id, version } });
  const shown = await orNull(read(wanted));
  if (shown) return { shown, isOther: false };
  return { shown: latest === null ? null : await read(latest), isOther: true };
}

function readVariables(visit: RunFormVisit, id: string) {
  return orNull(visit.read(listVariables, { params: { id }, query: { limit: '200' } }));
}

async function readEnvironments(
  visit: RunFormVisit,
  teamId: string | null,
): Promise<Pick<RunChoices, 'environments' | 'hasMoreEnvironments'>> {
  const team = teamId ?? visit.scope.teamId;
  const { environments, next_cursor: next } = await visit.read(listEnvironments, {
    query: { limit: '200', ...(team !== undefined && { team_id: team }) },
  });
  const names = await readNames(visit.em, { projects: environments.map(({ project_id }) => project_id) });
  const labelled = environments
    .map(({ id, name, project_id }) => ({ id, label: `${names.get(project_id)?.name ?? ''} / ${name}` }))
    .sort((one, other) => one.label.localeCompare(other.label));
  return { environments: labelled, hasMoreEnvironments: next !== null };
}

interface GivenVariable {
  readonly name: string;
  readonly category: string;
  readonly sensitive: boolean;
  readonly value: unknown;
}

/** The defaults that the environment sets, in words. */
export function describeInherited(variables: readonly GivenVariable[], environment: string): Map<string, string> {
  const defaults = variables.filter(({ category }) => category === 'template');
  return new Map(
    defaults.map(({ name, sensitive, value }) => {
      const shown = sensitive ? 'a secret value' : shorten(value as Parameters<typeof shorten>[0]);
      return [slots.member('', name), `${environment} sets ${shown}`];
    }),
  );
}
