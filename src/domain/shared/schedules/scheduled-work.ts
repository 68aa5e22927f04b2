import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Em, Orm } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { IdPage } from '#domain/shared/paging/every-row.ts';
import type { Transaction, Transactions } from '../commands/transaction.ts';
import type { Evaluator } from '../evaluation/evaluator.ts';
import type { EngineSchedule } from '../events/outbox.ts';
import type { KeyRing } from '../secrets.ts';
import type { ScheduleSpec } from './model.ts';
import { intervalOf } from './next-times.ts';

/** The workflow that the engine starts at the times of a schedule. */
export const scheduledWorkflow = 'scheduledWork';

/** A row whose work a schedule of the engine starts. */
export interface PlannedWork {
  readonly id: string;
  readonly spec: ScheduleSpec;
  /** The engine delays each start by a random part of this. */
  readonly jitterSeconds: number;
  readonly isPaused: boolean;
}

/** The dependencies of starting scheduled work. */
export interface ScheduledWorkDeps {
  readonly orm: Orm;
  readonly transactions: Transactions;
  readonly bindingKey: Buffer;
  readonly keyRing: KeyRing;
  readonly evaluator: Evaluator;
  readonly log: Logger;
}

/**
 * A kind of work that is started at set times. The rows of its area decide when: `planWork` and `dropWork` notify the engine of each
 * change. Once a minute a worker compares the engine with the rows, and restores what the engine has lost.
 */
export interface ScheduledWork {
  /** Part of the names of schedules in the engine; it never changes. */
  readonly kind: string;
  /** Rows with ids above `after` whose work is to be started, by id. Rows of archived or deleted owners are left out. */
  listPlanned(em: Em, page: IdPage): Promise<PlannedWork[]>;
  /** Locks one such row until the commit, so that messages about it stay in order; null if its work is not to be started. */
  lockPlanned(em: Em, id: string): Promise<PlannedWork | null>;
  /**
   * Starts the work of one time. It may be called again for the same time, and must not start the work twice: its key names the row and the
   * time (`serviceKeyOf`). It records refusals itself; after any error that it throws it is called again.
   */
  trigger(deps: ScheduledWorkDeps, id: string, scheduledAt: Date): Promise<void>;
}

/** Checks the type of a declaration; `src/domain/scheduled-work-kinds.ts` lists all. */
export function defineScheduledWork<const Work extends ScheduledWork>(work: Work): Work {
  return work;
}

/** The name of a row's schedule in the engine. */
export function scheduleIdOf(kind: string, id: string): string {
  return `${kind}/${id}`;
}

/** Notifies the engine, after the commit, of the times at which it starts the work of a row. The caller has locked the row. */
export function planWork(tx: Pick<Transaction, 'notifyEngine'>, kind: string, work: PlannedWork): void {
  tx.notifyEngine(scheduleIdOf(kind, work.id), { kind: 'schedule_upsert', schedule: toEngineSchedule(kind, work) });
}

/** Notifies the engine, after the commit, to stop starting the work of a row. */
export function dropWork(tx: Pick<Transaction, 'notifyEngine'>, kind: string, id: string): void {
  tx.notifyEngine(scheduleIdOf(kind, id), { kind: 'schedule_delete' });
}

export function toEngineSchedule(kind: string, { id, spec, jitterSeconds, isPaused }: PlannedWork): EngineSchedule {
  return {
    workflow: scheduledWorkflow,
    input: { kind, id },
    times: 'every' in spec ? intervalOf(spec.every, id) : { cron: spec.cron, timezone: spec.timezone },
    jitterSeconds,
    isPaused,
  };
}

/** Lets one worker at a time compare schedules with the engine; false if another one does. The lock ends with the transaction. */
export async function lockScheduleRepair(em: Em): Promise<boolean> {
  const lock = sql<boolean>`pg_try_advisory_xact_lock(hashtextextended('delivery-coordinator/schedules', 0))`;
  const row = await db(em).selectNoFrom(lock.as('isOurs')).executeTakeFirst();
  return row?.isOurs ?? false;
}
