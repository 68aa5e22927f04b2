import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { QuotaSubject } from '../model.ts';
import { belongsTo } from './usage-store.ts';

/**
 * The runs that wait for a place of one subject, the first one first: those whose plan was approved come before those that have not begun, and
 * each in the order of their admission. A run waits for one subject at a time, the nearest one that is full.
 */
function waitingFor(em: Em, subject: QuotaSubject) {
  const { scope, id } = subject;
  const blocker = JSON.stringify({ code: 'quota', blocker: { scope, id } });
  return db(em)
    .selectFrom('runs')
    .where(belongsTo(subject, { team: sql.ref('runs.team_id'), environment: sql.ref('runs.environment_id') }))
    .where('runs.finished_at', 'is', null)
    .where(sql<boolean>`runs.operation <> 'scan'`)
    .where(sql<boolean>`runs.waiting_on @> ${blocker}::jsonb`);
}

const rank = sql<number>`case runs.status when 'queued' then 1 else 0 end`;

/** How many runs wait for the same place before this one. */
export async function countAhead(em: Em, subject: QuotaSubject, run: { id: string; status: string }): Promise<number> {
  const own = sql`(${run.status === 'queued' ? 1 : 0}, ${run.id}::uuid)`;
  const { ahead } = await waitingFor(em, subject)
    .where(sql<boolean>`(${rank}, runs.id) < ${own}`)
    .select(sql<number>`count(*)::int`.as('ahead'))
    .executeTakeFirstOrThrow();
  return ahead;
}

/** The workflow of the first run that waits for a place. */
export async function findFirstWaiting(em: Em, subject: QuotaSubject): Promise<string | undefined> {
  const first = await waitingFor(em, subject)
    .orderBy(rank)
    .orderBy('runs.id')
    .limit(1)
    .select('runs.idempotency_key as workflowId')
    .executeTakeFirst();
  return first?.workflowId;
}
