import type { QuotaBlocker } from '#domain/shared/vocabulary/quotas.ts';
import type { StatusReason } from '#domain/shared/vocabulary/run-reasons.ts';
import { type RunStatus, runStatuses, type TerminalStatus, terminalStatuses } from '#domain/shared/vocabulary/runs.ts';

/**
 * The states of assembly runs and of their nodes as tables: the allowed transitions, and the reasons why nodes ended. Pure; the workflow
 * imports it. (docs/assemblies.md, *Running*)
 */

export const assemblyOperations = ['apply', 'destroy', 'plan'] as const;
export type AssemblyOperation = (typeof assemblyOperations)[number];

/** What an operation means for the nodes of its run. */
interface OperationRule {
  /** Where the nodes come from: the version that is run, or what earlier runs have deployed. */
  readonly nodesFrom: 'version' | 'deployment';
  /**
   * Whether conditions and references are evaluated, and the run takes variables. Otherwise each node uses the variables with which it was
   * deployed.
   */
  readonly evaluatesInputs: boolean;
  /** Whether outputs may be missing that nothing has produced yet: the nodes that need them are then skipped. */
  readonly toleratesMissingOutputs: boolean;
  /**
   * The operations that must have ended before it begins. A destroy reads the deployed nodes when it starts, so it would miss what a
   * concurrent apply creates, or destroy it twice.
   */
  readonly excludes: readonly AssemblyOperation[];
  /** Whether the run has outputs of its own when it succeeds. */
  readonly givesOutputs: boolean;
}

export const operationRules: Record<AssemblyOperation, OperationRule> = {
  apply: {
    nodesFrom: 'version',
    evaluatesInputs: true,
    toleratesMissingOutputs: false,
    excludes: ['destroy'],
    givesOutputs: true,
  },
  plan: {
    nodesFrom: 'version',
    evaluatesInputs: true,
    toleratesMissingOutputs: true,
    excludes: [],
    givesOutputs: false,
  },
  destroy: {
    nodesFrom: 'deployment',
    evaluatesInputs: false,
    toleratesMissingOutputs: false,
    excludes: ['apply', 'destroy'],
    givesOutputs: false,
  },
};

/** The statuses that may follow each status of an assembly run. `resume` queues a run again that ended without success. */
export const assemblyRunTransitions: Record<RunStatus, readonly RunStatus[]> = {
  queued: ['running', 'pending_approval', 'canceling', ...terminalStatuses],
  running: ['pending_approval', 'canceling', ...terminalStatuses],
  pending_approval: ['running', 'canceling', ...terminalStatuses],
  canceling: ['canceled', 'failed', 'timed_out'],
  succeeded: [],
  failed: ['queued'],
  canceled: ['queued'],
  timed_out: ['queued'],
};

/** The actions that people take on an assembly run. */
export const assemblyRunActions = ['cancel', 'resume'] as const;
export type AssemblyRunAction = (typeof assemblyRunActions)[number];

/** The actions that each status of an assembly run allows. */
export const actionsByStatus: Record<RunStatus, readonly AssemblyRunAction[]> = {
  queued: ['cancel'],
  running: ['cancel'],
  pending_approval: ['cancel'],
  canceling: ['cancel'],
  succeeded: [],
  failed: ['resume'],
  canceled: ['resume'],
  timed_out: ['resume'],
};

export function statusesThatAllow(action: AssemblyRunAction): RunStatus[] {
  return runStatuses.filter((status) => actionsByStatus[status].includes(action));
}

export const nodeStatuses = [
  'pending',
  'waiting',
  'running',
  'pending_approval',
  'canceling',
  'succeeded',
  'failed',
  'skipped',
  'canceled',
  'timed_out',
] as const;
export type NodeStatus = (typeof nodeStatuses)[number];

export const endedNodeStatuses = ['succeeded', 'failed', 'skipped', 'canceled', 'timed_out'] as const;
export type EndedNodeStatus = (typeof endedNodeStatuses)[number];

export function isNodeEnded(status: NodeStatus): status is EndedNodeStatus {
  return (endedNodeStatuses as readonly string[]).includes(status);
}

/** The status of a node while its run has a status. */
export const nodeStatusOfRun: Record<Exclude<RunStatus, TerminalStatus>, NodeStatus> = {
  queued: 'waiting',
  running: 'running',
  pending_approval: 'pending_approval',
  canceling: 'canceling',
};

/** Why a node ended without success. Stable: clients may match them. */
export const nodeReasons = {
  condition_false: 'its condition is false',
  condition_failed: 'its condition could not be evaluated',
  dependency_failed: 'a node that it depends on did not succeed',
  outputs_missing: 'it refers to outputs of a node that has none',
  not_chosen: 'the run is for other nodes only',
  not_deployed: 'nothing is deployed that could be destroyed',
  run_failed: 'its run failed',
  run_canceled: 'its run was canceled',
  run_rejected: 'a reviewer rejected the plan of its run',
  run_timed_out: 'its run took too long',
  time_limit: 'the node took longer than its timeout',
  refused: 'its run was refused',
  admission_failed: 'the service could not admit its run',
  not_permitted: 'the person who started or resumed the assembly run may no longer run it',
  canceled: 'the assembly run was canceled',
} as const;
export type NodeReasonCode = keyof typeof nodeReasons;

/** Why a node ended as it did: a code, and a sentence about this node. */
export interface NodeReason {
  readonly code: NodeReasonCode;
  readonly message: string;
}

interface Ended {
  readonly status: NodeStatus;
  readonly reason?: NodeReason | null;
}

/** Whether a node was left out from the beginning: it was not chosen, or it is not deployed. */
export function isLeftOut({ reason }: Ended): boolean {
  return reason?.code === 'not_chosen' || reason?.code === 'not_deployed';
}

/** Whether other nodes may use the outputs of a node. A node that was not chosen provides those of an earlier run, if it is deployed. */
export function lendsOutputs({ status, reason }: Ended): boolean {
  return status === 'succeeded' || (status === 'skipped' && reason?.code === 'not_chosen');
}

/** What a node waits for, before its run exists or between two of its runs. */
export const nodeWaitingCodes = ['engine', 'dependencies', 'concurrency', 'retry', 'admission'] as const;
export type NodeWaitingCode = (typeof nodeWaitingCodes)[number];

export interface NodeWaiting {
  readonly code: NodeWaitingCode;
  /** RFC 3339. */
  readonly since: string;
  /** `dependencies`: the keys of the nodes that have not ended. */
  readonly nodes?: readonly string[];
  /** `retry`, `admission`: when the next attempt begins; RFC 3339. */
  readonly until?: string;
  /** `admission`: the quota whose queue is full. */
  readonly blocker?: QuotaBlocker;
}

/** A node waits for the workflow engine until the first step of its assembly run. */
export function waitForEngine(): NodeWaiting {
  return { code: 'engine', since: new Date().toISOString() };
}

/** Why an assembly run ended without success. Stable: clients may match them. */
export const assemblyRunReasons = {
  nodes_failed: 'nodes failed',
  nodes_timed_out: 'nodes took too long',
  nodes_canceled: 'runs of nodes were canceled',
  nodes_rejected: 'reviewers rejected plans of nodes',
  canceled_by_user: 'a person canceled the run',
  engine_lost: 'the workflow engine no longer knows the run',
} as const;
export type AssemblyRunReason = keyof typeof assemblyRunReasons;

/** The reason of a run, of an assembly run and of a node that ended because a reviewer rejected a plan. */
const rejections: readonly string[] = ['rejected', 'nodes_rejected', 'run_rejected'] satisfies readonly (
  | StatusReason
  | AssemblyRunReason
  | NodeReasonCode
)[];

/** Whether a run, an assembly run or a node ended because a reviewer rejected a plan. Its status is `canceled`. */
export function isRejection(reason: string | null | undefined): boolean {
  return typeof reason === 'string' && rejections.includes(reason);
}

/** What the workflow of an assembly run does next. */
export type NextAssemblyStep = { kind: 'again' } | { kind: 'wait'; seconds: number } | { kind: 'end' };

/** The workflow type of assembly runs. The histories of workflows contain it, so it never changes. */
export const assemblyRunWorkflow = 'assemblyRun';

/** The longest pause between two attempts of a node, in seconds. */
export const maxBackoffSeconds = 3600;

/** The fields of an assembly that people can change: columns of its entity, with the same names in requests. */
export const assemblyFields = ['name', 'slug', 'description'] as const;
