import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { type Dispatched, isWorkflowStartPending } from '#domain/shared/events/pending-start.ts';
import { newId } from '#domain/shared/ids.ts';
import { templateCheckWorkflow } from './model.ts';
import { isGivenUp } from './steps.ts';
import { lockCheck } from './store.ts';

/** The next checks of versions whose workflows the engine has started, by id. Those younger than `graceSeconds` are left out. */
export function findDispatchedChecks(
  em: Em,
  { after, graceSeconds, limit }: { after: string; graceSeconds: number; limit: number },
): Promise<Dispatched[]> {
  return db(em)
    .selectFrom('template_checks as c')
    .where('c.versionId', 'is not', null)
    .where('c.endedAt', 'is', null)
    .where('c.id', '>', after)
    .where('c.createdAt', '<', sql<string>`now() - make_interval(secs => ${graceSeconds})`)
    .where((eb) => eb.not(isWorkflowStartPending(eb.ref('c.id'))))
    .select(['c.id', 'c.id as workflowId'])
    .orderBy('c.id')
    .limit(limit)
    .execute();
}

/**
 * Restarts a check whose workflow the engine has lost, since nothing else would. The engine starts each id only once, so the check gets a
 * new id, and the result of a worker that still executes the lost check is discarded. False if the check has ended, or ends now because it
 * is given up.
 */
export async function restartLostCheck(tx: Transaction, id: string): Promise<boolean> {
  if ((await isGivenUp(tx, id)) || !(await lockCheck(tx.em, id))) return false;
  const next = newId();
  await db(tx.em).updateTable('template_checks').set({ id: next }).where('id', '=', id).execute();
  tx.notifyEngine(next, { kind: 'start', workflow: templateCheckWorkflow, input: { check_id: next } });
  return true;
}
