import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Installation } from '#domain/shared/entity.ts';
import { type QuotaSubject, subjectName } from '#domain/shared/vocabulary/quotas.ts';
import type { QuotaState } from '../errors.ts';

/** A quota whose use drops to this part of its limit may be reported again. */
const emptiedPart = 0.8;
/** The minimum time between two reports, because a quota of one is full and empty all the time. */
const quietMs = 60 * 60 * 1000;

/** Reports quotas that have become full, once each time. The caller has called `lockUses`. */
export async function noteUses(tx: Transaction, states: readonly QuotaState[]): Promise<void> {
  const crossings = await readCrossings(tx.em, states);
  for (const [index, state] of states.entries())
    await noteCrossing(tx, state, crossings[index], state.used >= state.limit);
}

/**
 * Reports a quota that has become full. A quota on concurrent runs is meant to be full, so it is only reported when something waits for it
 * (`isShort`). The caller has called `lockUses`.
 */
export async function noteUse(tx: Transaction, state: QuotaState, isShort = state.used >= state.limit): Promise<void> {
  const [known] = await readCrossings(tx.em, [state]);
  await noteCrossing(tx, state, known, isShort);
}

interface Crossing {
  readonly isOver: boolean;
  readonly publishedAt: string;
}

/** The last crossing of each of these quotas, read by one statement; undefined where there was none. */
async function readCrossings(em: Em, states: readonly QuotaState[]): Promise<(Crossing | undefined)[]> {
  if (states.length === 0) return [];
  const rows = await db(em)
    .selectFrom('quota_crossings')
    .where((eb) =>
      eb.or(states.map((state) => eb.and([eb('subject', '=', subjectName(state)), eb('kind', '=', state.kind)]))),
    )
    .select(['subject', 'kind', 'isOver', 'publishedAt'])
    .execute();
  return states.map((state) => rows.find(({ subject, kind }) => subject === subjectName(state) && kind === state.kind));
}

async function noteCrossing(
  tx: Transaction,
  state: QuotaState,
  known: Crossing | undefined,
  isShort: boolean,
): Promise<void> {
  if (isShort) {
    const isQuiet = known && (!known.isOver || Date.now() - Date.parse(known.publishedAt) < quietMs);
    if (!isQuiet) await report(tx, state);
  } else if (known && !known.isOver && state.used <= state.limit * emptiedPart) {
    await db(tx.em)
      .updateTable('quota_crossings')
      .set({ isOver: true })
      .where('subject', '=', subjectName(state))
      .where('kind', '=', state.kind)
      .execute();
  }
}

async function report(tx: Transaction, { scope, id, kind, limit, used }: QuotaState): Promise<void> {
  await db(tx.em)
    .insertInto('quota_crossings')
    .values({ subject: subjectName({ scope, id }), kind, publishedAt: sql<string>`clock_timestamp()`, isOver: false })
    .onConflict((conflict) =>
      conflict.columns(['subject', 'kind']).doUpdateSet((eb) => ({
        publishedAt: eb.ref('excluded.publishedAt'),
        isOver: false,
      })),
    )
    .execute();
  const { subjectId, owners } = await findEventOwners(tx.em, { scope, id });
  tx.publish({ type: 'quota.exceeded', subjectId, owners, data: { scope, id, kind, limit, used } });
}

/** The subject and the owners of the event. Events about the installation have its id. */
async function findEventOwners(em: Em, { scope, id }: QuotaSubject) {
  if (scope === 'installation') {
    const { id: subjectId } = await em.findOneOrFail(Installation, { only: true });
    return { subjectId, owners: { teamId: null } };
  }
  if (scope === 'organization') return { subjectId: id, owners: { teamId: null, organizationId: id } };
  if (scope === 'team') return { subjectId: id, owners: { teamId: id } };
  const row = await db(em)
    .selectFrom('environments as e')
    .innerJoin('projects as p', 'p.id', 'e.projectId')
    .where('e.id', '=', id)
    .select('p.teamId')
    .executeTakeFirstOrThrow();
  return { subjectId: id, owners: { teamId: row.teamId } };
}
