import { isFinalReason, statusReasons } from '#domain/shared/vocabulary/run-reasons.ts';
import { isTerminal, type RunStatus } from '#domain/shared/vocabulary/runs.ts';
import {
  type AssemblyRunReason,
  type EndedNodeStatus,
  isNodeEnded,
  isRejection,
  lendsOutputs,
  maxBackoffSeconds,
  type NodeReason,
  type NodeStatus,
  nodeStatusOfRun,
} from '../../model.ts';
import type { NodeFacts, NodeRun } from './node-facts.ts';

export interface AssemblyFacts {
  readonly status: RunStatus;
  readonly concurrency: number;
  /** The nodes in an order in which each comes after those that it waits for. */
  readonly nodes: readonly NodeFacts[];
  readonly now: Date;
}

/** A change of a node. */
export type NodeChange =
  | { readonly kind: 'end'; readonly status: EndedNodeStatus; readonly reason: NodeReason | null }
  /** The node waits for nodes that have not ended. */
  | { readonly kind: 'wait_for_nodes'; readonly nodes: readonly string[] }
  /** The node is ready, but the maximum number of nodes is running. */
  | { readonly kind: 'wait_for_slot' }
  | { readonly kind: 'retry'; readonly at: Date }
  /** A run of the node must be admitted. */
  | { readonly kind: 'start' }
  /** The node takes over the status of its run. */
  | { readonly kind: 'follow'; readonly status: NodeStatus }
  | { readonly kind: 'cancel_run'; readonly because: 'canceled' | 'time_limit' };

export interface AssemblyStep {
  /** The changes by the keys of the nodes. Unchanged nodes have none. */
  readonly changes: ReadonlyMap<string, NodeChange>;
  readonly status: RunStatus;
  readonly reason: AssemblyRunReason | null;
  /** The next time at which the passing of time may change something. */
  readonly wakeAt: Date | null;
}

/**
 * Decides what an assembly run does next, for all nodes at once. Pure: `takeNextAssemblyStep` reads the facts and carries the
 * step out while the assembly run is locked, so a repeated step changes nothing.
 */
export function decideAssemblyStep(facts: AssemblyFacts): AssemblyStep {
  const nodes = new Map<string, Pick<NodeFacts, 'status' | 'reason'>>();
  const changes = new Map<string, NodeChange>();
  const ready: string[] = [];
  let slots = facts.concurrency;
  for (const node of facts.nodes) {
    const change = decideNode(node, nodes, facts);
    if (change?.kind === 'start') ready.push(node.key);
    else if (change) changes.set(node.key, change);
    if (usesSlot(node, change)) slots -= 1;
    nodes.set(node.key, afterChange(node, change));
  }
  for (const [index, key] of ready.entries())
    changes.set(key, index < slots ? { kind: 'start' } : { kind: 'wait_for_slot' });
  return { changes, ...decideStatus(facts, [...nodes.values()], ready.length), wakeAt: findNextTime(facts, changes) };
}

/** A node uses a slot while it has a run. One that waits for approval leaves its slot to others. */
function usesSlot(node: NodeFacts, change: NodeChange | null): boolean {
  if (change) return change.kind === 'cancel_run' || (change.kind === 'follow' && change.status !== 'pending_approval');
  return !isNodeEnded(node.status) && node.run !== null && !node.nextAttemptAt && node.status !== 'pending_approval';
}

type Others = ReadonlyMap<string, Pick<NodeFacts, 'status' | 'reason'>>;

function decideNode(node: NodeFacts, others: Others, facts: AssemblyFacts): NodeChange | null {
  if (isNodeEnded(node.status)) return null;
  if (node.run && !node.nextAttemptAt) return decideByRun(node, node.run, facts);
  if (facts.status === 'canceling') return end('canceled', 'canceled', 'the assembly run was canceled');
  if (node.nextAttemptAt && isOver(node, facts.now)) return timedOut(node);
  if (node.nextAttemptAt) return node.nextAttemptAt <= facts.now ? { kind: 'start' } : null;
  return decideByNodes(node, others);
}

function decideByNodes(node: NodeFacts, others: Others): NodeChange {
  const open = node.dependencies.filter((key) => !isNodeEnded(others.get(key)?.status ?? 'pending'));
  const failed = node.dependencies.find((key) => stopsOthers(others.get(key)));
  if (failed !== undefined)
    return end('skipped', 'dependency_failed', `"${failed}" did not succeed, and this node depends on it`);
  if (open.length > 0) return { kind: 'wait_for_nodes', nodes: open };
  const missing = node.readsOutputsOf.find((key) => {
    const other = others.get(key);
    return other !== undefined && !lendsOutputs(other);
  });
  if (missing !== undefined)
    return end('skipped', 'outputs_missing', `"${missing}" was skipped, and this node refers to its outputs`);
  return { kind: 'start' };
}

/** Whether the end of a node makes its direct and indirect dependents be skipped. */
function stopsOthers(node: Pick<NodeFacts, 'status' | 'reason'> | undefined): boolean {
  if (!node || !isNodeEnded(node.status)) return false;
  return node.status === 'skipped' ? node.reason?.code === 'dependency_failed' : node.status !== 'succeeded';
}

function decideByRun(node: NodeFacts, run: NodeRun, { status, now }: AssemblyFacts): NodeChange | null {
  if (isTerminal(run.status)) return decideByEnd(node, run, status, now);
  if (run.status !== 'canceling' && status === 'canceling') return { kind: 'cancel_run', because: 'canceled' };
  if (run.status !== 'canceling' && isOver(node, now)) return { kind: 'cancel_run', because: 'time_limit' };
  const followed = nodeStatusOfRun[run.status as keyof typeof nodeStatusOfRun];
  return followed === node.status ? null : { kind: 'follow', status: followed };
}

function decideByEnd(node: NodeFacts, run: NodeRun, status: RunStatus, now: Date): NodeChange {
  if (run.status === 'succeeded') return { kind: 'end', status: 'succeeded', reason: null };
  if (status === 'canceling') return end('canceled', 'canceled', describeCanceled(run));
  if (isOver(node, now)) return timedOut(node);
  if (run.status === 'canceled')
    return end('canceled', isRejection(run.statusReason) ? 'run_rejected' : 'run_canceled', describeRun(run));
  const delay = findRetryDelay(node, run);
  if (delay !== null) return { kind: 'retry', at: new Date(now.getTime() + delay * 1000) };
  if (run.status === 'timed_out') return end('timed_out', 'run_timed_out', describeRun(run));
  return end('failed', 'run_failed', describeRun(run));
}

/** The run may have failed before it could be canceled. */
function describeCanceled(run: NodeRun): string {
  const canceled = 'the assembly run was canceled';
  return run.status === 'canceled'
    ? canceled
    : `${canceled}; the run of the node ended ${run.status}: ${describeRun(run)}`;
}

function describeRun({ status, statusReason }: NodeRun): string {
  return statusReason ? statusReasons[statusReason] : `its run ended ${status}`;
}

function end(status: EndedNodeStatus, code: NodeReason['code'], message: string): NodeChange {
  return { kind: 'end', status, reason: { code, message } };
}

function timedOut({ timeoutSeconds }: NodeFacts): NodeChange {
  return end('timed_out', 'time_limit', `the node took longer than its timeout (${timeoutSeconds} s)`);
}

function isOver(node: NodeFacts, now: Date): boolean {
  const limit = timeLimitOf(node);
  return limit !== null && limit <= now;
}

function timeLimitOf({ startedAt, timeoutSeconds }: NodeFacts): Date | null {
  return startedAt && timeoutSeconds !== null ? new Date(startedAt.getTime() + timeoutSeconds * 1000) : null;
}

function afterChange(node: NodeFacts, change: NodeChange | null): Pick<NodeFacts, 'status' | 'reason'> {
  if (change?.kind === 'end') return change;
  if (change?.kind === 'follow') return { status: change.status, reason: null };
  if (change?.kind === 'cancel_run') return { status: 'canceling', reason: null };
  return node;
}

function decideStatus(
  { status }: AssemblyFacts,
  nodes: readonly Pick<NodeFacts, 'status' | 'reason'>[],
  ready: number,
): Pick<AssemblyStep, 'status' | 'reason'> {
  const has = (wanted: NodeStatus) => nodes.some((node) => node.status === wanted);
  if (nodes.every((node) => isNodeEnded(node.status))) {
    if (status === 'canceling') return { status: 'canceled', reason: 'canceled_by_user' };
    if (has('failed')) return { status: 'failed', reason: 'nodes_failed' };
    if (has('timed_out')) return { status: 'timed_out', reason: 'nodes_timed_out' };
    if (!has('canceled')) return { status: 'succeeded', reason: null };
    const hasRejection = nodes.some(({ reason }) => isRejection(reason?.code));
    return { status: 'canceled', reason: hasRejection ? 'nodes_rejected' : 'nodes_canceled' };
  }
  if (status === 'canceling') return { status, reason: 'canceled_by_user' };
  const isBusy = ready > 0 || has('running') || has('waiting') || has('canceling');
  return { status: !isBusy && has('pending_approval') ? 'pending_approval' : 'running', reason: null };
}

function findNextTime({ nodes, now }: AssemblyFacts, changes: ReadonlyMap<string, NodeChange>): Date | null {
  const times = nodes.flatMap((node) => {
    const change = changes.get(node.key);
    if (change?.kind === 'end' || isNodeEnded(node.status)) return [];
    const next = change?.kind === 'retry' ? change.at : node.nextAttemptAt;
    return [next, timeLimitOf(node)].filter((time) => time !== null).filter((time) => time > now);
  });
  return times.length === 0 ? null : new Date(Math.min(...times.map((time) => time.getTime())));
}

/**
 * How many seconds after the end of its run a node is tried again; null: it is not. A run that may have made unrecorded changes is repeated
 * only if its template declares that this is safe.
 */
function findRetryDelay({ retry, attempts }: Pick<NodeFacts, 'retry' | 'attempts'>, run: NodeRun): number | null {
  if (!retry || attempts >= retry.attempts) return null;
  if (run.statusReason && isFinalReason(run.statusReason)) return null;
  if (run.isUncertain && !run.retrySafe) return null;
  return Math.min(maxBackoffSeconds, retry.backoffSeconds * 2 ** Math.max(0, attempts - 1));
}
