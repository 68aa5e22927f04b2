import { type ExpressionBuilder, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import type { QuotaSubject } from '#domain/shared/vocabulary/quotas.ts';
import { belongsTo } from './usage-store.ts';

/**
 * The runs that wait for a place of one subject, in the order in which they get one: runs whose plan was approved come before those that
 * have not begun, and both in the order of their admission. A run waits for one subject at a time, the nearest one that is full.
 */
function waitingFor(em: Em, subject: QuotaSubject) {
  const { scope, id } = subject;
  const blocker = JSON.stringify({ code: 'quota', blocker: { scope, id } });
  return db(em)
    .selectFrom('runs')
    .where(belongsTo(subject, { team: sql.ref('runs.teamId'), environment: sql.ref('runs.environmentId') }))
    .where('runs.finishedAt', 'is', null)
    .where(sql<boolean>`runs.operation <> 'scan'`)
    .where(sql<boolean>`runs.waiting_on @> ${blocker}::jsonb`);
}

const rankOf = (table: 'runs' | 'ahead') =>
  sql<number>`case ${sql.ref(`${table}.status`)} when 'queued' then 1 else 0 end`;
const rank = rankOf('runs');

/** How many runs wait before a run `runs` for the same quota, as `{ position }`. It is in the order of `waitingFor`. */
export function selectPositionInQuota(eb: ExpressionBuilder<Tables, 'runs'>) {
  const blocker = sql`jsonb_build_object('scope', runs.waiting_on->'blocker'->'scope', 'id', runs.waiting_on->'blocker'->'id')`;
  return eb
    .selectFrom('runs as ahead')
    .where('ahead.finishedAt', 'is', null)
    .where(sql<boolean>`ahead.operation <> 'scan'`)
    .where(sql<boolean>`ahead.waiting_on @> jsonb_build_object('code', 'quota', 'blocker', ${blocker})`)
    .where(sql<boolean>`(${rankOf('ahead')}, ahead.id) < (${rankOf('runs')}, runs.id)`)
    .select(({ fn }) => sql`jsonb_build_object('position', ${fn.countAll()})`.as('current'));
}

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
    .select('runs.idempotencyKey as workflowId')
    .executeTakeFirst();
  return first?.workflowId;
}
