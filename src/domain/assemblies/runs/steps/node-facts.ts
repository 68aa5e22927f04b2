import type { StatusReason } from '#domain/shared/vocabulary/run-reasons.ts';
import type { RunStatus } from '#domain/shared/vocabulary/runs.ts';
import type { NodeReason, NodeStatus } from '../../model.ts';

/** How often a node is tried, and how long the first pause is. Each pause is twice as long as the one before it. */
export interface RetryRule {
  readonly attempts: number;
  readonly backoffSeconds: number;
}

/** The latest run of a node. */
export interface NodeRun {
  readonly id: string;
  readonly status: RunStatus;
  readonly statusReason: StatusReason | null;
  readonly retrySafe: boolean;
  /** Whether it ended while it applied, and may have made unrecorded changes. */
  readonly isUncertain: boolean;
}

/** A node as the next step of its assembly run sees it. */
export interface NodeFacts {
  readonly key: string;
  readonly status: NodeStatus;
  readonly reason: NodeReason | null;
  readonly dependencies: readonly string[];
  /** The nodes to whose outputs its variables refer. */
  readonly readsOutputsOf: readonly string[];
  readonly run: NodeRun | null;
  readonly attempts: number;
  /** Set between two attempts. */
  readonly nextAttemptAt: Date | null;
  readonly startedAt: Date | null;
  readonly timeoutSeconds: number | null;
  readonly retry: RetryRule | null;
}
