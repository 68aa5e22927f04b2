import { sql } from 'kysely';
import { json } from '#database/tables.ts';
import { db } from '#domain/db.ts';
import type { EventData, EventTypeName } from '#domain/events.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import type { Run } from '../entity.ts';
import type { runEvents } from './events.ts';

export type RunEventType = Extract<EventTypeName, keyof typeof runEvents>;

/** Publishes an event of a run. The caller has locked the run's row, so that its events are numbered in the order of the commits. */
export function publishRunEvent<Type extends RunEventType>(
  tx: Transaction,
  run: Pick<Run, 'id'> & Partial<Pick<Run, 'teamId'>>,
  type: Type,
  data: EventData<Type>,
): void {
  tx.publish({ type, subjectId: run.id, owners: { teamId: run.teamId ?? null }, data });
}

/** Publishes an event unless the run has one of the same type that contains `key`. Returns whether it did. */
export async function publishRunEventOnce<Type extends RunEventType>(
  tx: Transaction,
  run: Pick<Run, 'id'> & Partial<Pick<Run, 'teamId'>>,
  type: Type,
  key: Partial<EventData<Type>>,
  data: EventData<Type>,
): Promise<boolean> {
  const earlier = await db(tx.em)
    .selectFrom('domain_events as e')
    .where('e.subjectKind', '=', 'run')
    .where('e.subjectId', '=', run.id)
    .where('e.type', '=', type)
    .where((eb) => sql<boolean>`${eb.ref('e.data')} @> ${json(key)}::jsonb`)
    .select('e.sequence')
    .limit(1)
    .execute();
  if (earlier.length > 0) return false;
  publishRunEvent(tx, run, type, data);
  return true;
}
