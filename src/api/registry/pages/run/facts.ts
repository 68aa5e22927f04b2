import { type InheritedValues, inheritedBy } from '#api/environments/pages/inherited.ts';
import { getRun } from '#api/runs/operations.ts';
import type { Choices } from '#api/web/forms/fields/choices.ts';
import { type ObjectNode, withoutRequired } from '#api/web/forms/schema/plan/node.ts';
import { planForm } from '#api/web/forms/schema/plan/plan.ts';
import { orNull } from '#api/web/visit/or-null.ts';
import { Invalid } from '#domain/shared/errors.ts';
import { get as getTemplate } from '../../template-operations.ts';
import { get as getVersion, list as listVersions } from '../../version-operations.ts';
import type { ShownFit } from '../../worker-fit.ts';
import { supports } from '../destroy-steps.ts';
import { schemaOf } from '../version/variables-table.ts';
import type { ListedVersion, ShownTemplate, ShownVersion } from '../views.ts';
import type { RotatedSecrets } from './compared.ts';
import {
  type DeployedFacts,
  findNamedInstance,
  type NotDeployed,
  type OccupiedInstance,
  type RunFormVisit,
  readOccupied,
  readReplaced,
  readStart,
  readUndone,
  type SourceRun,
  type UndoneRun,
} from './deployed.ts';
import {
  type ApprovalWithoutEnvironment,
  readApprovalWithoutEnvironment,
  readUnfinished,
  type UnfinishedRuns,
} from './notices.ts';
import { findRotatedSecrets, findSecretsOfOthers, readFitOfRun, readTargetEnvironment } from './target.ts';

/** The subject of a form for a run. */
interface RunSubject {
  readonly template: ShownTemplate;
  /** The run to copy, if the address names one. */
  readonly source: SourceRun | null;
  /** The deployment from which the form starts, if the address names its instance. */
  readonly deployed: DeployedFacts | null;
  /** The instance in the address, if the form cannot start from its deployment. */
  readonly notDeployed: NotDeployed | null;
  /** The run whose change the form takes back, if the address names an attempt to undo it. */
  readonly undone: UndoneRun | null;
}

/** Everything from which a form for a run is made. */
export interface RunFacts extends RunSubject {
  readonly versions: readonly ListedVersion[];
  /** There are older versions than these. */
  readonly hasMoreVersions: boolean;
  /** Null if no version is published. */
  readonly version: ShownVersion | null;
  /** The variables of the version. */
  readonly root: ObjectNode;
  /** The deployment that the form's run replaces, if the form does not start from it. */
  readonly replaced: DeployedFacts | null;
  /** The instance that the form's run changes, if nobody knows with which values it was deployed. */
  readonly occupied: OccupiedInstance | null;
  /** The unfinished runs of the instance; null if there are none. */
  readonly unfinished: UnfinishedRuns | null;
  /** The workers that could execute the form's run now; null if they are unknown, or if the run needs no tool. */
  readonly fit: ShownFit | null;
  readonly environments: Choices;
  /** Empty: no environment, or an unknown one. */
  readonly environmentId: string;
  /** The approval of a run outside of any environment; null if the form's run is in one, or if that is not known yet. */
  readonly approvalWithoutEnvironment: ApprovalWithoutEnvironment | null;
  /** For variables whose default does not apply when they are left empty: what applies instead. */
  readonly inherited: InheritedValues;
  /** The deployed or copied secrets whose value in the environment has changed. */
  readonly rotated: RotatedSecrets;
  /** The secrets in the starting point of the form that another person entered. For a copied run, this includes secrets from outputs. */
  readonly secretsOfOthers: readonly string[];
  /** Why a choice is not possible, by field. The form is then made for another choice. */
  readonly problems: Readonly<Record<string, string>>;
  /**
   * Why a run that is copied or deployed again cannot run in its environment again. The form has no field to choose another one. Null if it
   * can.
   */
  readonly environmentLost: string | null;
}

interface ChosenTarget {
  readonly version?: string | undefined;
  /** As the field sent it: a name, if the field does not offer all environments. */
  readonly environment?: string | undefined;
  readonly instance?: string | undefined;
  readonly operation?: string | undefined;
}

/** Reads everything from which the form is made. `chosen` is what the visitor chose in it, if anything. */
export async function readRunFacts(visit: RunFormVisit, chosen: ChosenTarget): Promise<RunFacts> {
  const subject = await readSubject(visit);
  const [version, listed, target] = await Promise.all([
    readVersion(visit, subject.template, chosen.version || subject.source?.template_version || 'latest'),
    visit.read(listVersions, { params: visit.params, query: { limit: '50' } }),
    readTargetEnvironment(visit, subject, chosen.environment),
  ]);
  const { environments, environmentId, inherited } = target;
  const schema = schemaOf(version.shown?.spec ?? {});
  const root = planForm(schema);
  const operation = chosen.operation ?? subject.source?.operation;
  const name = nameOfTarget(subject, chosen);
  const isReplacing = !subject.deployed && target.isKnown;
  const place = { templateId: visit.params.id, environmentId, name };
  const replaced = isReplacing ? await readReplaced(visit, place) : null;
  const isOfDeployed = runsDeployedVersion(subject, { operation, version: chosen.version });
  const versionToDestroy = isOfDeployed ? (subject.deployed ?? replaced) : null;
  const isFixed = Boolean(subject.source ?? subject.deployed);
  const isOutside = target.isKnown && environmentId === '';
  const spec = versionToDestroy?.spec ?? version.shown?.spec ?? {};
  const occupied = isReplacing && !replaced ? await readOccupied(visit, place) : null;
  return {
    ...subject,
    version: version.shown,
    versions: listed.versions,
    hasMoreVersions: listed.next_cursor !== null,
    // A destroy takes variables that are left empty from the deployment, if there is one.
    root: operation === 'destroy' && occupied?.isDeployed !== false ? withoutRequired(root) : root,
    replaced,
    occupied: occupied?.resourceCount ? occupied : null,
    unfinished: await readUnfinished(
      visit,
      subject.deployed?.instance ?? (isReplacing ? await findNamedInstance(visit, place) : null),
    ),
    fit: await readFitOfRun(visit, version.shown, { environmentId, name, operation }),
    environments,
    environmentId,
    approvalWithoutEnvironment: isOutside ? await readApprovalWithoutEnvironment(visit, spec) : null,
    inherited: inheritedBy(inherited, schema),
    rotated: {
      ofBaseline: await findRotatedSecrets(visit, subject.deployed ?? replaced, environmentId, schema),
      ofSource: await findRotatedSecrets(visit, subject.source && { run: subject.source }, environmentId, schema),
    },
    secretsOfOthers: await findSecretsOfOthers(visit, subject.deployed?.run ?? subject.source, !subject.deployed),
    problems: {
      ...(version.isOther && { version: unknownVersion }),
      ...(versionToDestroy && !supports(spec, 'destroy') && { version: withoutDestroySteps(versionToDestroy.version) }),
      ...(target.problem && !isFixed && { environment_id: target.problem }),
    },
    environmentLost: isFixed ? target.problem : null,
  };
}

async function readSubject(visit: RunFormVisit): Promise<RunSubject> {
  const { id } = visit.params;
  const from = visit.query('from');
  const [template, copied, start] = await Promise.all([
    visit.read(getTemplate, { params: { id } }),
    from ? visit.read(getRun, { params: { id: from }, query: {} }) : null,
    from ? { deployed: null, notDeployed: null } : readStart(visit),
  ]);
  const { deployed, notDeployed } = start;
  const source = copied ?? notDeployed?.last ?? null;
  if (source && source.template_id !== id) throw new Invalid('from: the run is one of another template');
  const instance = deployed?.instance ?? notDeployed?.instance;
  const undone = instance ? await readUndone(visit, instance.id) : null;
  return { template, source, deployed, notDeployed, undone };
}

/** Whether the form's run uses the deployed version. A destroy does, unless a version was chosen. A copy uses the version of its run. */
export function runsDeployedVersion(
  { source }: Pick<RunSubject, 'source'>,
  { operation, version }: { readonly operation?: string | undefined; readonly version?: string | undefined },
): boolean {
  return operation === 'destroy' && !version && !source;
}

/** The name of the instance that the form's run changes. */
export function nameOfTarget(
  { deployed, source, template }: RunSubject,
  { instance }: { readonly instance?: string | undefined },
): string {
  return deployed?.instance.name ?? (instance || source?.instance || template.slug);
}

function withoutDestroySteps(version: string): string {
  return `Version ${version}, which is deployed, has no destroy steps. Choose a version with destroy steps.`;
}

const unknownVersion = 'The template has no such version. Choose one of those that are listed.';

/** Reads the requested version, or the latest one if it does not exist. Null if no version is published. */
async function readVersion(visit: RunFormVisit, { id, latest_version: latest }: ShownTemplate, wanted: string) {
  if (latest === null && wanted === 'latest') return { shown: null, isOther: false };
  const read = (version: string) => visit.read(getVersion, { params: { id, version } });
  const shown = await orNull(read(wanted));
  if (shown) return { shown, isOther: false };
  return { shown: latest === null ? null : await read(latest), isOther: true };
}
