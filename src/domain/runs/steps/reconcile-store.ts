import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db, type Over } from '#domain/db.ts';
import { type Dispatched, isWorkflowStartPending } from '#domain/shared/events/pending-start.ts';

/**
 * The next runs, by id, that have not ended and whose workflow the engine has started. Runs younger than `graceSeconds` are left out: the
 * engine may not show a workflow yet that it has just received.
 */
export function findDispatchedRuns(
  em: Em,
  { after, graceSeconds, limit }: { after: string; graceSeconds: number; limit: number },
): Promise<Dispatched[]> {
  return db(em)
    .selectFrom('runs as r')
    .where('r.finishedAt', 'is', null)
    .where('r.id', '>', after)
    .where('r.createdAt', '<', sql<string>`now() - make_interval(secs => ${graceSeconds})`)
    .where((eb) => eb.not(isStartPending(eb)))
    .select(['r.id', 'r.idempotencyKey as workflowId'])
    .orderBy('r.id')
    .limit(limit)
    .execute();
}

/** Whether the request to start the workflow of a run has not yet reached the engine. */
export async function waitsForStart(em: Em, runId: string): Promise<boolean> {
  const run = await db(em)
    .selectFrom('runs as r')
    .where('r.id', '=', runId)
    .select((eb) => isStartPending(eb).as('waits'))
    .executeTakeFirst();
  return Boolean(run?.waits);
}

function isStartPending(eb: Over<{ r: 'runs' }>) {
  return isWorkflowStartPending(eb.ref('r.idempotencyKey'));
}

/**
 * Locks reconciliation until the transaction ends, so that one worker of the installation reconciles at a time. False if another worker has
 * the lock.
 */
export async function lockReconciliation(em: Em): Promise<boolean> {
  const { locked } = await db(em)
    .selectNoFrom(
      sql<boolean>`pg_try_advisory_xact_lock(hashtextextended('delivery-coordinator/reconcile', 0))`.as('locked'),
    )
    .executeTakeFirstOrThrow();
  return locked;
}
