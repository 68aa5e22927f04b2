import { cancelRun } from '#domain/runs/cancel.ts';
import { lockRunInOrder } from '#domain/runs/steps/transitions.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { isTerminal, type TerminalStatus } from '#domain/shared/vocabulary/runs.ts';
import { AssemblyNode, type AssemblyRun } from '../../entity.ts';
import { type NodeReason, type NodeStatus, type NodeWaiting, operationRules } from '../../model.ts';
import { cancelAssemblyRun } from '../cancel.ts';
import { describeFailures } from '../nodes/failures.ts';
import { moveNode } from '../nodes/move-node.ts';
import { collectOutputs } from '../nodes/outputs.ts';
import { publishAssemblyRunEvent } from '../publish-event.ts';
import { type AssemblyStep, decideAssemblyStep, type NodeChange } from './decide-step.ts';
import { lockAssemblyRun, readNodeRuns, toNodeFacts } from './facts-store.ts';

/** The maximum time that the workflow waits, in case a signal was lost. */
const lookAgainSeconds = 60;

/** The work that remains outside the transaction of a step. */
export interface StepResult {
  readonly isFinished: boolean;
  /** The ids of the nodes whose runs must be admitted. */
  readonly starts: readonly string[];
  readonly waitSeconds: number;
}

export interface AssemblyStepRequest {
  readonly assemblyRunId: string;
  /** The workflow that asks. A workflow from before a resume gets the answer that it is finished. */
  readonly workflowId: string;
  /** Whether the workflow itself was canceled, which counts as a request to cancel. */
  readonly isCanceled: boolean;
}

/** The name of the actor of cancellations that no person requested. */
const service = 'coordinator';

/** The maximum number of runs that one step cancels; the next step continues. */
const cancellationsAtOnce = 50;

const over: StepResult = { isFinished: true, starts: [], waitSeconds: 0 };

/**
 * Advances an assembly run as far as possible without admitting a run. `decideAssemblyStep` decides, while the assembly run is
 * locked, so a repeated call is harmless.
 */
export async function takeNextAssemblyStep(
  tx: Transaction,
  keyRing: KeyRing,
  { assemblyRunId, workflowId, isCanceled }: AssemblyStepRequest,
): Promise<StepResult> {
  const run = await lockAssemblyRun(tx.em, assemblyRunId);
  if (!run || run.isFinished() || run.workflowId !== workflowId) return over;
  if (isCanceled) await cancelAssemblyRun(tx, run, 'its workflow was canceled', service);
  const [nodes, runs] = await Promise.all([
    tx.em.find(AssemblyNode, { assemblyRunId }, { orderBy: { position: 'asc' } }),
    readNodeRuns(tx.em, assemblyRunId),
  ]);
  const now = new Date();
  const facts = nodes.map((node) => toNodeFacts(node, runs));
  const step = decideAssemblyStep({ status: run.status, concurrency: run.concurrency, nodes: facts, now });
  run.startedAt ??= now;
  const starts = nodes.filter(({ key }) => step.changes.get(key)?.kind === 'start').map(({ id }) => id);
  let cancellations = 0;
  for (const node of nodes) {
    const change = step.changes.get(node.key);
    if (change?.kind === 'cancel_run') cancellations += 1;
    if (change && cancellations <= cancellationsAtOnce && (await carryOut(tx, run, node, change))) run.revision += 1;
  }
  await moveRun(tx, keyRing, run, nodes, step);
  await tx.em.flush();
  const waitSeconds = cancellations > cancellationsAtOnce ? 0 : secondsUntil(step.wakeAt, now);
  return { isFinished: run.isFinished(), starts, waitSeconds };
}

function secondsUntil(time: Date | null, now: Date): number {
  if (time === null) return lookAgainSeconds;
  return Math.min(lookAgainSeconds, Math.max(0.05, (time.getTime() - now.getTime()) / 1000));
}

async function moveRun(
  tx: Transaction,
  keyRing: KeyRing,
  run: AssemblyRun,
  nodes: readonly AssemblyNode[],
  { status, reason }: AssemblyStep,
): Promise<void> {
  if (run.moveTo(status) && status === 'running') publishAssemblyRunEvent(tx, run, 'assembly_run.started', {});
  if (!isTerminal(status)) return;
  run.statusReason = reason;
  run.finishedAt = new Date();
  run.statusDetail = await describeFailures(tx.em, nodes);
  if (status === 'succeeded' && operationRules[run.operation].givesOutputs)
    run.outputs = await collectOutputs(tx.em, keyRing, run, nodes);
  publishAssemblyRunEvent(tx, run, 'assembly_run.finished', {
    status: status as TerminalStatus,
    reason,
    ...(run.statusDetail && { status_detail: run.statusDetail }),
  });
}

/** Applies a change to a node; returns whether the node has visibly changed. */
async function carryOut(tx: Transaction, run: AssemblyRun, node: AssemblyNode, change: NodeChange): Promise<boolean> {
  switch (change.kind) {
    case 'end':
      endNode(tx, run, node, change);
      return true;
    case 'wait_for_nodes':
      return waitFor(tx, run, node, 'pending', { code: 'dependencies', nodes: change.nodes });
    case 'wait_for_slot':
      return waitFor(tx, run, node, 'waiting', { code: 'concurrency' });
    case 'retry':
      return retryNode(tx, run, node, change.at);
    case 'start':
      return false;
    case 'follow':
      return followRun(tx, run, node, change.status);
    case 'cancel_run':
      await cancelNodeRun(tx, run, node, change.because);
      return true;
  }
}

/** Ends a node. The caller has locked the row of the assembly run. */
export function endNode(
  tx: Transaction,
  run: AssemblyRun,
  node: AssemblyNode,
  { status, reason }: { status: Extract<NodeChange, { kind: 'end' }>['status']; reason: NodeReason | null },
): void {
  if (status === 'succeeded') noteApproval(tx, run, node);
  node.status = status;
  node.reason = reason;
  node.waiting = null;
  node.nextAttemptAt = null;
  node.finishedAt = new Date();
  const runId = node.runId ?? null;
  publishAssemblyRunEvent(tx, run, 'assembly_run.node_ended', { node: node.key, run_id: runId, status, reason });
}

function waitFor(
  tx: Transaction,
  run: AssemblyRun,
  node: AssemblyNode,
  status: NodeStatus,
  wanted: Omit<NodeWaiting, 'since'>,
): boolean {
  const last = node.waiting ?? null;
  const isSame = last?.code === wanted.code && String(last.nodes) === String(wanted.nodes);
  if (isSame && node.status === status) return false;
  const since = last?.code === wanted.code ? last.since : new Date().toISOString();
  moveNode(tx, run, node, status);
  node.waiting = { ...wanted, since };
  return true;
}

function retryNode(tx: Transaction, run: AssemblyRun, node: AssemblyNode, at: Date): boolean {
  const until = at.toISOString();
  node.nextAttemptAt = at;
  node.status = 'waiting';
  node.waiting = { code: 'retry', since: new Date().toISOString(), until };
  const runId = node.runId ?? '';
  publishAssemblyRunEvent(tx, run, 'assembly_run.node_retried', { node: node.key, run_id: runId, until });
  return true;
}

function followRun(tx: Transaction, run: AssemblyRun, node: AssemblyNode, status: NodeStatus): boolean {
  if (status === 'running') noteApproval(tx, run, node);
  node.waiting = null;
  if (status === 'pending_approval') {
    node.status = status;
    const data = { node: node.key, run_id: node.runId ?? '' };
    publishAssemblyRunEvent(tx, run, 'assembly_run.node_approval_required', data);
  } else {
    moveNode(tx, run, node, status);
  }
  return true;
}

/** Publishes the approval of a node: its run has continued after it waited for approval. */
function noteApproval(tx: Transaction, run: AssemblyRun, node: AssemblyNode): void {
  if (node.status !== 'pending_approval') return;
  publishAssemblyRunEvent(tx, run, 'assembly_run.node_approved', { node: node.key, run_id: node.runId ?? '' });
}

const cancelReasons = {
  canceled: 'the assembly run was canceled',
  time_limit: 'the node of the assembly took longer than its timeout',
} as const;

async function cancelNodeRun(
  tx: Transaction,
  run: AssemblyRun,
  node: AssemblyNode,
  because: keyof typeof cancelReasons,
): Promise<void> {
  const locked = node.runId ? await lockRunInOrder(tx.em, node.runId) : null;
  if (locked && !locked.isFinished()) {
    await cancelRun(
      tx,
      locked,
      { reason: cancelReasons[because] },
      (because === 'canceled' && run.canceledByName) || service,
    );
  }
  moveNode(tx, run, node, 'canceling');
}
