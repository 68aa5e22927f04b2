import { get as getInstance } from '#api/instances/operations.ts';
import type { EncodedAnswerOf } from '#api/pipeline/answers/answer-types.ts';
import { getRun } from '#api/runs/operations.ts';
import { getAttempt } from '#api/undo/operations.ts';
import { planForm } from '#api/web/forms/schema/plan/plan.ts';
import { orNull } from '#api/web/visit/or-null.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { findInstanceNamed } from '#domain/runs/references/dependents-store.ts';
import { placeReferences } from '#domain/runs/references/place-references.ts';
import { isJsonObject, type JsonValue } from '#domain/shared/values/json.ts';
import { splitPointer } from '#domain/shared/values/json-pointer.ts';
import { findDeploymentBefore } from '#domain/undo/deployments/deployments-store.ts';
import { get as getVersion } from '../../version-operations.ts';
import { schemaOf } from '../version/variables-table.ts';
import type { Deployment, Values } from './compared.ts';

/** The deployment of an instance. */
export interface DeployedFacts extends Deployment {
  readonly instance: { readonly id: string; readonly name: string; readonly resourceCount: number };
  readonly environmentId: string | null;
  /** The run that deployed it. */
  readonly run: SourceRun;
  /** The first run since which the record of resources is incomplete; null if it is complete. */
  readonly unrecordedRunId: string | null;
  /** The values, with references in place of the values that they were resolved to. */
  readonly values: Values;
  /** The spec of the deployed version, as it was published. */
  readonly spec: Readonly<Record<string, unknown>>;
}

/** An instance in the address from which the form cannot start, because nothing is deployed there now. */
export interface NotDeployed {
  /** Null: it no longer exists, or the visitor may not read it. */
  readonly instance: { readonly id: string; readonly name: string } | null;
  /** Whether no known run has deployed it yet. */
  readonly isNew: boolean;
  /** The run that destroyed it; null if no such run is known. */
  readonly destroyedBy: string | null;
  /** The last run that deployed it before, which fills in the form; null if no such run can be repeated. */
  readonly last: SourceRun | null;
}

/** The starting point that the address names. Both are null if it names no instance. */
interface Start {
  readonly deployed: DeployedFacts | null;
  readonly notDeployed: NotDeployed | null;
}

/** Reads the starting point that the address names. */
export async function readStart(visit: RunFormVisit): Promise<Start> {
  const from = visit.query('from_instance');
  if (!from) return { deployed: null, notDeployed: null };
  const deployed = await orNull(readDeployment(visit, visit.params.id, from));
  return { deployed, notDeployed: deployed ? null : await readNotDeployed(visit, from) };
}

async function readNotDeployed(visit: RunFormVisit, instanceId: string): Promise<NotDeployed> {
  const found = await orNull(visit.read(getInstance, { params: { id: instanceId } }));
  if (!found) return { instance: null, isNew: false, destroyedBy: null, last: null };
  const instance = { id: found.id, name: found.name };
  const isNew = found.deployed_run_id === null;
  const run = found.deployed_run_id === null ? null : await readRun(visit, found.deployed_run_id);
  if (run?.operation !== 'destroy') return { instance, isNew, destroyedBy: null, last: null };
  const id = await findDeploymentBefore(visit.em, run.id);
  const last = id === undefined ? null : await readRun(visit, id);
  const isRepeatable = last !== null && last.template_id === visit.params.id && last.prefill !== null;
  return { instance, isNew, destroyedBy: run.id, last: isRepeatable ? last : null };
}

function readRun(visit: Visit, id: string): Promise<SourceRun | null> {
  return orNull(visit.read(getRun, { params: { id }, query: {} }));
}

/**
 * Reads the deployment that a run would replace if the form does not start from it. Null: no instance with this name is deployed there, or
 * the visitor may not know it.
 */
export async function readReplaced(visit: Visit, target: NamedTarget): Promise<DeployedFacts | null> {
  const id = await findTargetInstance(visit, target);
  return id === undefined ? null : orNull(readDeployment(visit, target.templateId, id));
}

/** The target of a run. An empty environment id means that the run is outside of any environment. */
type NamedTarget = Readonly<Record<'templateId' | 'environmentId' | 'name', string>>;

/** The instance that the run changes; null if it does not exist yet. */
export async function findNamedInstance(
  visit: Visit,
  target: NamedTarget,
): Promise<{ id: string; name: string } | null> {
  const id = await findTargetInstance(visit, target);
  return id === undefined ? null : { id, name: target.name };
}

function findTargetInstance({ em }: Visit, { templateId, environmentId, name }: NamedTarget) {
  return findInstanceNamed(em, environmentId === '' ? { templateId } : { environmentId }, name);
}

/** An instance without a known deployment, for example after an import. It may have resources. */
export interface OccupiedInstance {
  readonly id: string;
  readonly name: string;
  readonly resourceCount: number;
  /** Whether some run has deployed it, even if the visitor may not know that run. */
  readonly isDeployed: boolean;
}

/**
 * Reads the instance that a run would change, if there is no deployment to compare with. Null: there is none, or the visitor may not know
 * it.
 */
export async function readOccupied(visit: Visit, target: NamedTarget): Promise<OccupiedInstance | null> {
  const id = await findTargetInstance(visit, target);
  const instance = id === undefined ? null : await orNull(visit.read(getInstance, { params: { id } }));
  if (!instance || instance.template_id !== target.templateId) return null;
  const { id: instanceId, name, resource_count: resourceCount, deployed_run_id: deployedRunId } = instance;
  return { id: instanceId, name, resourceCount, isDeployed: deployedRunId !== null };
}

async function readDeployment(visit: Visit, templateId: string, instanceId: string): Promise<DeployedFacts | null> {
  const instance = await visit.read(getInstance, { params: { id: instanceId } });
  if (instance.deployed_run_id === null || instance.template_id !== templateId) return null;
  const run = await visit.read(getRun, { params: { id: instance.deployed_run_id }, query: {} });
  if (run.operation === 'destroy' || run.prefill === null || run.template_id !== templateId) return null;
  const { spec } = await visit.read(getVersion, { params: { id: run.template_id, version: run.template_version } });
  const { id, name, resource_count: resourceCount, environment_id: environmentId } = instance;
  return {
    instance: { id, name, resourceCount },
    environmentId,
    run,
    version: run.template_version,
    unrecordedRunId: instance.unrecorded_since?.run_id ?? null,
    ...withReferences(run),
    spec,
    root: planForm(schemaOf(spec)),
  };
}

/**
 * Puts references back in place of resolved values. If a whole variable is a reference, it need not be entered again, even if its output is
 * secret.
 */
function withReferences({ prefill, reads, variables }: SourceRun) {
  const open = (prefill?.variables ?? {}) as Values;
  const secrets = prefill?.secrets ?? [];
  const names = [...new Set(reads.map(({ variable }) => variable))].filter((name) => Object.hasOwn(variables, name));
  const placed = names.flatMap((name): [string, JsonValue][] => {
    const ofVariable = reads.filter(({ variable }) => variable === name);
    const whole = ofVariable.find(({ path }) => path === '');
    if (whole) return [[name, whole.reference]];
    return secrets.includes(name) ? [] : [[name, placeReferences(variables[name] as JsonValue, ofVariable)]];
  });
  const values = { ...open, ...Object.fromEntries(placed) };
  return { values, secrets: secrets.filter((name) => !Object.hasOwn(values, name)) };
}

/** A visit of the form for a run of a template. */
export type RunFormVisit = Visit<{ id: string }>;

/** A run from which a form is filled in. */
export type SourceRun = EncodedAnswerOf<(typeof getRun)['responses']>;

/** An attempt to undo a run, whose earlier values fill in the form. */
export type UndoneRun = Pick<EncodedAnswerOf<(typeof getAttempt)['responses']>, 'run_id' | 'changes'>;

/** Reads the attempt that the address names. Null if it names none of this instance, or none that the visitor may read. */
export async function readUndone(visit: Visit, instanceId: string): Promise<UndoneRun | null> {
  const id = visit.query('undo');
  const attempt = id ? await orNull(visit.read(getAttempt, { params: { id } })) : null;
  return attempt?.instance_id === instanceId ? attempt : null;
}

/** The deployed values, except that values which the undone run changed are those from before it. Secrets are not included. */
export function takeBack(deployed: Values, undone: UndoneRun | null): Values {
  const values = structuredClone(deployed) as Record<string, JsonValue>;
  for (const { path, to } of undone?.changes ?? []) {
    const [kind, ...names] = splitPointer(path);
    if (kind === 'variables' && !isMasked(to)) place(values, names, to);
  }
  return values;
}

function place(
  values: Record<string, JsonValue>,
  [name = '', ...below]: readonly string[],
  to: JsonValue | undefined,
): void {
  if (below.length > 0) {
    const inner = values[name];
    if (isJsonObject(inner)) place(inner as Record<string, JsonValue>, below, to);
  } else if (to === undefined) delete values[name];
  else values[name] = to;
}

/** Whether a value is a masked secret. */
function isMasked(value: JsonValue | undefined): boolean {
  return value !== undefined && isJsonObject(value) && value['sensitive'] === true;
}
