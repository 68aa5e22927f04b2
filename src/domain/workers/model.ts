import { z } from 'zod';

/** Whether template code runs in a sandbox or without one. */
export const isolations = ['sandbox', 'none'] as const;
export type Isolation = (typeof isolations)[number];

/** How a worker enforces the limits of attempts: by control groups, or by process limits and polling. */
export const limitKinds = ['cgroup', 'process'] as const;
export type LimitKind = (typeof limitKinds)[number];

/** The isolation that a pool or an environment demands of the workers that execute its runs; null: any. */
export const DemandedIsolation = z.enum(['sandbox'], { error: 'must be "sandbox" or null' }).nullable();
export type DemandedIsolation = z.output<typeof DemandedIsolation>;

/** A worker counts as lost when its last heartbeat is older than this. */
export const heartbeatTimeoutSeconds = 30;

/** `silent`: its heartbeat has expired; `gone`: it deregistered, or another worker saw that its process had ended. */
export type WorkerLiveness = 'alive' | 'silent' | 'gone';

/** The statuses that operators see. `gone`: the worker's heartbeat has expired. */
export const workerStatuses = ['active', 'draining', 'gone'] as const;
export type WorkerStatus = (typeof workerStatuses)[number];

/** What a worker reports about itself when it registers. */
export interface WorkerFacts {
  readonly id: string;
  readonly host: string;
  readonly processId: number;
  readonly version: string;
  readonly pools: string[];
  readonly tools: { name: string; version: string }[];
  readonly concurrency: number;
  /** Whether it contains template code. It decides which queues the worker polls. */
  readonly isolation: Isolation;
  /** How it enforces the limits of attempts. */
  readonly limits: LimitKind;
  /** Why it does not contain template code; null if it does. */
  readonly isolationReason: string | null;
  /** Whether it takes checks of templates. Only a worker with a sandbox does. */
  readonly takesChecks?: boolean;
  /** Whether it begins runs itself (`beginRun`). */
  readonly beginsRuns?: boolean;
}
