import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { json } from '#database/tables.ts';
import { db } from '#domain/db.ts';
import { type Dispatched, isWorkflowStartPending } from '#domain/shared/events/pending-start.ts';
import type { RestorationProblem, RestorationState } from './model.ts';
import type { StoredRestore } from './stored-request.ts';

/** A restoration as its workflow and its request see it. */
export interface RestorationDetails {
  readonly id: string;
  readonly resourceId: string;
  readonly request: StoredRestore;
  readonly status: RestorationState;
  readonly problem: RestorationProblem | null;
}

export function findRestoration(em: Em, id: string): Promise<RestorationDetails | undefined> {
  return db(em)
    .selectFrom('plugin_restorations as x')
    .where('x.id', '=', id)
    .select(['x.id', 'x.resourceId', 'x.request', 'x.status', 'x.problem'])
    .$castTo<RestorationDetails>()
    .executeTakeFirst();
}

/** Inserts a new restoration. Returns false if there is already one with the key. */
export async function insertRestoration(em: Em, id: string, resourceId: string, request: StoredRestore) {
  const now = sql<string>`clock_timestamp()`;
  const row = { id, resourceId, request: json({ ...request }), requestedBy: request.caller.id };
  const { numInsertedOrUpdatedRows } = await db(em)
    .insertInto('plugin_restorations')
    .values({ ...row, status: 'running', createdAt: now })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst();
  return Number(numInsertedOrUpdatedRows) === 1;
}

/** Ends a restoration; returns false if it had already ended. */
export async function endRestoration(
  em: Em,
  id: string,
  status: Exclude<RestorationState, 'running'>,
  problem: RestorationProblem | null,
): Promise<boolean> {
  const { numUpdatedRows } = await db(em)
    .updateTable('plugin_restorations')
    .set({ status, problem: problem && json(problem), endedAt: sql<string>`clock_timestamp()` })
    .where('id', '=', id)
    .where('status', '=', 'running')
    .executeTakeFirst();
  return Number(numUpdatedRows) === 1;
}

/** The next restorations, by id, that have not ended and whose workflows the engine has started. */
export function findDispatchedRestorations(
  em: Em,
  { after, graceSeconds, limit }: { after: string; graceSeconds: number; limit: number },
): Promise<Dispatched[]> {
  return db(em)
    .selectFrom('plugin_restorations as x')
    .where('x.status', '=', 'running')
    .where('x.id', '>', after)
    .where('x.createdAt', '<', sql<string>`now() - make_interval(secs => ${graceSeconds})`)
    .where((eb) => eb.not(isWorkflowStartPending(eb.ref('x.id'))))
    .select(['x.id', 'x.id as workflowId'])
    .orderBy('x.id')
    .limit(limit)
    .execute();
}
