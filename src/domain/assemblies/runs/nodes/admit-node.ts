import { findForChange } from '#database/row-lock.ts';
import { answeredFor } from '#domain/identity/stored-authority.ts';
import { QuotaExceeded } from '#domain/quotas/errors.ts';
import { admitRun } from '#domain/runs/admission/admission.ts';
import { resolveRun } from '#domain/runs/admission/resolve.ts';
import { type AdmissionTarget, findAdmissionTarget } from '#domain/runs/admission/target.ts';
import { decide } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { CommandChange } from '#domain/shared/audit.ts';
import { runCommand } from '#domain/shared/commands/command.ts';
import { serviceKeyOf } from '#domain/shared/commands/service-key.ts';
import type { Transaction, Transactions } from '#domain/shared/commands/transaction.ts';
import { ServiceError, Unauthenticated } from '#domain/shared/errors.ts';
import type { Evaluator } from '#domain/shared/evaluation/evaluator.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { nodeReviewNeed, nodeRunAuthority } from '../../authority.ts';
import { AssemblyNode, type AssemblyRun } from '../../entity.ts';
import { isNodeEnded, type NodeWaiting, operationRules } from '../../model.ts';
import { publishAssemblyRunEvent } from '../publish-event.ts';
import { endNode } from '../steps/advance.ts';
import { lockAssemblyRun } from '../steps/facts-store.ts';
import { moveNode } from './move-node.ts';
import { NodeEndsUnrun, resolveNode } from './node-inputs.ts';
import { findStarter, notPermitted } from './starter.ts';

export interface NodeDeps {
  readonly transactions: Transactions;
  readonly bindingKey: Buffer;
  readonly keyRing: KeyRing;
  readonly evaluator: Evaluator;
}

interface NodeTarget extends AdmissionTarget {
  readonly run: AssemblyRun;
  readonly node: AssemblyNode;
}

/**
 * Admits the next run of a node that is ready. It checks the present authority of the principal who started or last resumed the assembly
 * run, and runs the same command as a requested run. A repeated call for the same attempt uses the same key, so it finds the receipt. If
 * the condition is false, or the run cannot be admitted, the node ends instead.
 * @throws ServiceError for a temporary problem: the caller tries again
 */
export async function admitNode(deps: NodeDeps, nodeId: string): Promise<void> {
  const found = await findStart(deps, nodeId);
  if (!found) return;
  try {
    const starter = await deps.transactions.run(({ em }) => findStarter(em, found.run));
    await admit(deps, found.run, found.node, starter);
  } catch (error) {
    const ending = toEnding(error);
    if (!ending) throw error;
    await endUnadmitted(deps, found.run, found.node, ending);
  }
}

/** The node with its assembly run; null if it must no longer be started. */
async function findStart({ transactions }: NodeDeps, nodeId: string) {
  return transactions.run(async ({ em }) => {
    const node = await em.findOne(AssemblyNode, { id: nodeId });
    const run = node && (await lockAssemblyRun(em, node.assemblyRunId));
    return node && run && mayStart(run, node) ? { node, run } : null;
  });
}

function mayStart(run: AssemblyRun, node: AssemblyNode): boolean {
  if (run.isFinished() || run.status === 'canceling' || isNodeEnded(node.status)) return false;
  return !node.runId || Boolean(node.nextAttemptAt);
}

async function admit(deps: NodeDeps, run: AssemblyRun, node: AssemblyNode, caller: Principal): Promise<void> {
  const { transactions, bindingKey } = deps;
  const key = keyOf(bindingKey, run, node);
  const command = {
    key,
    caller,
    operation: 'assemblies.run_node',
    audit: { action: 'run.created', resourceType: 'runs' },
    target: { node: node.id },
    input: { try: node.attempts + 1 },
    locks: [],
    request: { requestId: null, address: null },
  };
  await runCommand(transactions, bindingKey, command, {
    find: (tx) => findNodeTarget(tx, run, node),
    act: (tx, principal, target) => {
      refuseSuperseded(run, target);
      return start(tx, deps, { key, target, principal: answeredFor(principal, run) });
    },
  });
}

function keyOf(bindingKey: Buffer, { workflowId }: AssemblyRun, { id, attempts }: AssemblyNode): string {
  return serviceKeyOf(bindingKey, ['assembly node', workflowId, id, attempts]);
}

/**
 * Refuses to admit a node if somebody has resumed the assembly run in the meantime, because another workflow then drives it under another
 * authority.
 */
function refuseSuperseded({ workflowId }: AssemblyRun, target: NodeTarget | undefined): void {
  if (target && target.run.workflowId !== workflowId) throw new NodeNotStartable();
}

async function findNodeTarget(tx: Transaction, run: AssemblyRun, node: AssemblyNode): Promise<NodeTarget | undefined> {
  const { templateId } = node;
  const { environmentId } = run;
  const target = await findAdmissionTarget(tx.em, { templateId, environmentId }, true);
  const locked = await lockAssemblyRun(tx.em, run.id);
  const current = locked && (await findForChange(tx.em, AssemblyNode, { id: node.id }));
  return target && locked && current ? { ...target, run: locked, node: current } : undefined;
}

async function start(
  tx: Transaction,
  deps: NodeDeps,
  { key, target, principal }: { key: string; target: NodeTarget | undefined; principal: Principal },
): Promise<CommandChange> {
  if (!target) throw new NodeEndsUnrun('failed', 'refused', 'its template or environment is gone');
  const { run, node } = target;
  if (!mayStart(run, node)) throw new NodeNotStartable();
  if (!decide(principal, nodeRunAuthority, target).allowed) throw notPermitted();
  const inputs = await resolveNode(tx, deps, run, { node, place: target });
  const request = {
    version: operationRules[run.operation].nodesFrom === 'deployment' ? undefined : node.templateVersion,
    instance: node.instance,
    operation: run.operation,
    replace: [],
    message: run.message,
    approval: node.spec.approval ?? null,
    // The assembly provided the secrets, not the person who started it.
    secretGivers: {},
    ...inputs,
  };
  const resolve = () => resolveRun(tx, deps, target, request, principal);
  const admitted = await admitRun(tx, key, target, { instance: node.instance, resolve }, principal, {
    links: { assemblyRunId: run.id, assemblyNodeId: node.id },
    parentWorkflowId: run.workflowId,
    authors: run.authors,
    reviewNeeds: [nodeReviewNeed],
  });
  noteStart(tx, run, node, admitted.id);
  await tx.em.flush();
  const after = { operation: run.operation, templateId: node.templateId, assemblyRunId: run.id, node: node.key };
  return { id: admitted.id, after, revision: admitted.revision };
}

function noteStart(tx: Transaction, run: AssemblyRun, node: AssemblyNode, runId: string): void {
  node.runId = runId;
  node.attempts += 1;
  node.nextAttemptAt = null;
  node.status = 'waiting';
  node.waiting = null;
  node.startedAt ??= new Date();
  run.revision += 1;
  const data = { node: node.key, run_id: runId, attempt: node.attempts };
  publishAssemblyRunEvent(tx, run, 'assembly_run.node_started', data);
}

/** The error if the node was started, ended or canceled meanwhile. */
class NodeNotStartable extends Error {}

/** How an error ends the node; undefined if another try may help. */
function toEnding(error: unknown): NodeEndsUnrun | NodeNotStartable | undefined {
  if (error instanceof NodeEndsUnrun || error instanceof NodeNotStartable) return error;
  if (error instanceof Unauthenticated) return notPermitted();
  // A full queue has space again later without any action. For any other quota, somebody has to free capacity.
  if (error instanceof QuotaExceeded && !error.passesSoon) return new NodeEndsUnrun('failed', 'refused', error.message);
  if (!(error instanceof ServiceError) || error.kind === 'unavailable' || error.kind === 'limited') return undefined;
  return new NodeEndsUnrun('failed', 'refused', error.message);
}

async function endUnadmitted(
  { transactions }: NodeDeps,
  { id: runId, workflowId }: AssemblyRun,
  { id }: AssemblyNode,
  ending: NodeEndsUnrun | NodeNotStartable,
): Promise<void> {
  if (ending instanceof NodeNotStartable) return;
  await transactions.run(async (tx) => {
    const run = await lockAssemblyRun(tx.em, runId);
    const node = await findForChange(tx.em, AssemblyNode, { id });
    if (run?.workflowId !== workflowId || !node || !mayStart(run, node)) return;
    endNode(tx, run, node, ending);
    run.revision += 1;
    await tx.em.flush();
  });
}

/** The pause before the service tries again to admit a node after an unexpected error. */
const admissionPauseMs = 15_000;
/** The node ends after its admission has failed unexpectedly for this long. */
const admissionLimitMs = 10 * 60_000;

/**
 * Makes a node whose run could not be admitted wait for the next try, or ends it after the time limit. If a quota is full, the node shows
 * which one.
 */
export async function noteFailedAdmission(
  { transactions }: Pick<NodeDeps, 'transactions'>,
  nodeId: string,
  error: unknown,
): Promise<void> {
  await transactions.run(async (tx) => {
    const found = await tx.em.findOne(AssemblyNode, { id: nodeId });
    const run = found && (await lockAssemblyRun(tx.em, found.assemblyRunId));
    const node = run && (await findForChange(tx.em, AssemblyNode, { id: nodeId }));
    if (!run || !node || !mayStart(run, node)) return;
    run.revision += 1;
    const since = node.waiting?.code === 'admission' ? node.waiting.since : new Date().toISOString();
    if (Date.now() - Date.parse(since) > admissionLimitMs) {
      const unknown = 'the service could not admit its run: ask an operator, whose log says why';
      const message = error instanceof QuotaExceeded ? error.message : unknown;
      endNode(tx, run, node, { status: 'failed', reason: { code: 'admission_failed', message } });
    } else {
      node.nextAttemptAt = new Date(Date.now() + admissionPauseMs);
      moveNode(tx, run, node, 'waiting');
      const until = node.nextAttemptAt.toISOString();
      node.waiting = { code: 'admission', since, until, ...blockerOf(error) };
    }
    await tx.em.flush();
  });
}

function blockerOf(error: unknown): Pick<NodeWaiting, 'blocker'> {
  if (!(error instanceof QuotaExceeded) || error.state.kind !== 'queued_runs') return {};
  const { scope, id, kind, limit, used } = error.state;
  return { blocker: { scope, id, kind, limit, used } };
}
