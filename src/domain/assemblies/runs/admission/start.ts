import type { Em } from '#database/database.ts';
import { resolveVersion } from '#domain/registry/versions.ts';
import type { RunAuthor } from '#domain/runs/model.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { throwIfRefused } from '#domain/shared/actions.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { invalidField } from '#domain/shared/errors.ts';
import type { Evaluator } from '#domain/shared/evaluation/evaluator.ts';
import { newId } from '#domain/shared/ids.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { limitSubjectOfCaller } from '#domain/shared/tasks/limit-subject.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { Masked } from '#domain/shared/values/masked.ts';
import { AssemblyNode, AssemblyRun } from '../../entity.ts';
import { type AssemblyOperation, assemblyRunWorkflow, operationRules, waitForEngine } from '../../model.ts';
import { listAvailableVersions, readPublishers } from '../../versions/version-store.ts';
import { publishAssemblyRunEvent } from '../publish-event.ts';
import { findBusyRefusal } from '../rules.ts';
import type { AssemblyInEnvironment } from '../targets.ts';
import { findBusyRun } from './busy-store.ts';
import { chooseNodes } from './choose-nodes.ts';
import type { PlannedNode } from './plan-nodes.ts';
import { loadPublishedAssembly, type PublishedAssembly } from './published.ts';
import { type AssemblyVariables, checkVariables, sealVariables } from './variables.ts';

export interface AssemblyRunRequest {
  /** A version, a range or `latest`. */
  readonly version: string;
  readonly operation: AssemblyOperation;
  readonly variables: Record<string, JsonValue>;
  /** The keys of the nodes that take part; undefined: all. */
  readonly only?: readonly string[] | undefined;
  readonly message: string;
}

export interface WantedAssemblyRun {
  /** The id of its workflow. */
  readonly key: string;
  readonly target: AssemblyInEnvironment;
  readonly request: AssemblyRunRequest;
  /** Who answers for the runs of its nodes besides the requester and the publishers. */
  readonly authors?: readonly RunAuthor[];
}

export interface StartDeps {
  readonly keyRing: KeyRing;
  readonly evaluator: Evaluator;
}

/**
 * Admits an assembly run with a row for each of its nodes; its workflow is started under the command's key after the commit. The caller has
 * locked the rows of `target`.
 * @throws Conflict if something is archived, or another run of the assembly in the environment prevents it; Unprocessable or Invalid for a
 * version, variables or nodes that do not fit
 */
export async function startAssemblyRun(
  tx: Transaction,
  deps: StartDeps,
  { key, target, request, authors = [] }: WantedAssemblyRun,
  requester: Principal,
): Promise<AssemblyRun> {
  refuseArchived(target);
  const busy = await findBusyRun(tx.em, { ...target, operation: request.operation }, true);
  const version = await chooseVersion(tx, target.assemblyId, request.version);
  const nodes = await chooseNodes(tx, target, version, request);
  const variables = await takeVariables(tx, deps, version, request, requester);
  throwIfRefused(findBusyRefusal(busy));
  const run = tx.em.create(AssemblyRun, {
    ...describeWork(deps.keyRing, version, request, variables),
    ...describeOwner(target),
    ...describeRequester(requester, [...authors, ...(await findPublishers(tx.em, nodes))]),
    idempotencyKey: key,
    workflowId: key,
    status: 'queued',
    outputs: {},
  });
  tx.em.persist(run);
  await tx.em.flush();
  for (const [position, node] of nodes.entries()) tx.em.persist(createNode(tx, run, node, position));
  await tx.em.flush();
  publishAssemblyRunEvent(tx, run, 'assembly_run.admitted', {
    by: requester.name,
    operation: request.operation,
    nodes: nodes.length,
  });
  tx.notifyEngine(key, { kind: 'start', workflow: assemblyRunWorkflow, input: { assembly_run_id: run.id } });
  return run;
}

/** @throws Unprocessable naming the versions that exist instead */
async function chooseVersion({ em }: Transaction, assemblyId: string, wanted: string): Promise<PublishedAssembly> {
  const available = await listAvailableVersions(em, assemblyId);
  return loadPublishedAssembly(em, resolveVersion(available, wanted, 'assembly').id);
}

type TakenVariables = AssemblyVariables & { shown: Record<string, JsonValue | Masked> };

async function takeVariables(
  tx: Transaction,
  { evaluator }: StartDeps,
  version: PublishedAssembly,
  { operation, variables }: AssemblyRunRequest,
  requester: Principal,
): Promise<TakenVariables> {
  if (operationRules[operation].evaluatesInputs)
    return checkVariables(tx, evaluator, version.spec, variables, {
      subject: limitSubjectOfCaller(requester),
      versionId: version.id,
    });
  if (Object.keys(variables).length > 0)
    throw invalidField('variables', 'a destroy takes none: it uses the variables with which each node was deployed');
  return { values: {}, sensitive: [], shown: {} };
}

function describeWork(
  keyRing: KeyRing,
  { id, version, spec }: PublishedAssembly,
  { operation, only, message }: AssemblyRunRequest,
  { shown, ...variables }: TakenVariables,
) {
  const runId = newId();
  return {
    id: runId,
    assemblyVersionId: id,
    version,
    operation,
    only: only ? [...only] : null,
    message,
    concurrency: spec.concurrency,
    variables: shown,
    sealedVariables: sealVariables(keyRing, runId, variables),
  };
}

function describeOwner({ assemblyId, teamId, projectId, environmentId }: AssemblyInEnvironment) {
  return { assemblyId, teamId, projectId, environmentId };
}

/** The reasons why somebody answers for the runs of the nodes, addressed to that person. */
const started = 'you started or resumed the assembly run that it is part of';
const published = 'you published the version of the assembly that it is part of';

/** The publishers of the versions whose nodes take part. A destroy uses the deployed nodes, which may belong to several versions. */
async function findPublishers(em: Em, nodes: readonly PlannedNode[]): Promise<RunAuthor[]> {
  const chosen = nodes.filter(({ skipped }) => !skipped);
  const publishers = await readPublishers(em, [...new Set(chosen.map((node) => node.assemblyVersionId))]);
  return publishers.map((publisher) => ({ ...publisher, because: published }));
}

function describeRequester(requester: Principal, others: readonly RunAuthor[]) {
  return {
    requestedById: requester.id,
    requestedByType: requester.kind,
    requestedByName: requester.name,
    ...authorityOf(requester),
    authors: [...others, authorOf(requester)],
  };
}

/** The columns that record under whose authority the nodes run. */
export function authorityOf(principal: Principal) {
  return {
    authorityId: principal.id,
    credentialId: principal.credential.id,
    responsibleUserId: principal.responsibleUserId,
  };
}

/** The author that the runs of nodes name for a principal who started or resumed the assembly run. */
export function authorOf({ id, responsibleUserId }: Principal): RunAuthor {
  return { id, person: responsibleUserId, because: started };
}

function createNode(tx: Transaction, { id }: AssemblyRun, node: PlannedNode, position: number): AssemblyNode {
  const { skipped, dependencies, assemblyVersionId: _version, ...planned } = node;
  return tx.em.create(AssemblyNode, {
    ...planned,
    dependencies: [...dependencies],
    id: newId(),
    assemblyRunId: id,
    position,
    status: skipped ? 'skipped' : 'pending',
    reason: skipped,
    ...(skipped ? { finishedAt: new Date() } : { waiting: waitForEngine() }),
  });
}
