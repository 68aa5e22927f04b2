import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Installation } from '#domain/shared/entity.ts';
import type { QuotaState } from '../errors.ts';
import { type QuotaSubject, subjectName } from '../model.ts';

/** A quota that empties to this part of its limit may be reported again. */
const emptiedPart = 0.8;
/** And no sooner than this, because a quota of one is full and empty all the time. */
const quietMs = 60 * 60 * 1000;

/**
 * Reports a quota that has become full, once for each time. Runs that execute at once are different: such a quota is meant to be full, and is
 * reported when something waits for it (`isShort`). The caller holds the lock of the use.
 */
export async function noteUse(tx: Transaction, state: QuotaState, isShort = state.used >= state.limit): Promise<void> {
  const subject = subjectName(state);
  const known = await db(tx.em)
    .selectFrom('quota_crossings')
    .where('subject', '=', subject)
    .where('kind', '=', state.kind)
    .select(['is_over as isOver', 'published_at as publishedAt'])
    .executeTakeFirst();
  if (isShort) {
    const isQuiet = known && (!known.isOver || Date.now() - Date.parse(known.publishedAt) < quietMs);
    if (!isQuiet) await report(tx, state);
  } else if (known && !known.isOver && state.used <= state.limit * emptiedPart) {
    await db(tx.em)
      .updateTable('quota_crossings')
      .set({ is_over: true })
      .where('subject', '=', subject)
      .where('kind', '=', state.kind)
      .execute();
  }
}

async function report(tx: Transaction, { scope, id, kind, limit, used }: QuotaState): Promise<void> {
  await db(tx.em)
    .insertInto('quota_crossings')
    .values({ subject: subjectName({ scope, id }), kind, published_at: sql<string>`clock_timestamp()`, is_over: false })
    .onConflict((conflict) =>
      conflict.columns(['subject', 'kind']).doUpdateSet((eb) => ({
        published_at: eb.ref('excluded.published_at'),
        is_over: false,
      })),
    )
    .execute();
  const { subjectId, owners } = await findEventOwners(tx.em, { scope, id });
  tx.publish({ type: 'quota.exceeded', subjectId, owners, data: { scope, id, kind, limit, used } });
}

/** Whose the event is. Events of the installation have its id, because it has no row of its own kind. */
async function findEventOwners(em: Em, { scope, id }: QuotaSubject) {
  if (scope === 'installation') {
    const { id: subjectId } = await em.findOneOrFail(Installation, { only: true });
    return { subjectId, owners: { teamId: null } };
  }
  if (scope === 'organization') return { subjectId: id, owners: { teamId: null, organizationId: id } };
  if (scope === 'team') return { subjectId: id, owners: { teamId: id } };
  const row = await db(em)
    .selectFrom('environments as e')
    .innerJoin('projects as p', 'p.id', 'e.project_id')
    .where('e.id', '=', id)
    .select('p.team_id as teamId')
    .executeTakeFirstOrThrow();
  return { subjectId: id, owners: { teamId: row.teamId } };
}
