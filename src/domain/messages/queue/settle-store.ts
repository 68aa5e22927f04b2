import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { type Settlement, settledColumns } from '#domain/shared/sending/settlement.ts';
import { keptDays } from '../model.ts';
import type { DueMessage, MessageDestination } from './lease-store.ts';

export type MessageSettlement = Settlement<'sent'>;

/**
 * Records the result of a try. It deletes the token once no further try follows. After a failure, nothing else is sent to the destination
 * for a while, because many messages to a hanging server would delay others.
 */
export async function settleMessage(
  em: Em,
  message: MessageDestination & Pick<DueMessage, 'id' | 'lane'>,
  settlement: MessageSettlement,
): Promise<void> {
  const { numUpdatedRows } = await db(em)
    .updateTable('outgoing_messages')
    .set({
      ...settledColumns(settlement),
      leasedUntil: null,
      ...(settlement.status !== 'pending' && { settledAt: sql<string>`now()`, sealedToken: null }),
    })
    .where('id', '=', message.id)
    .where('status', '=', 'pending')
    .executeTakeFirstOrThrow();
  // The message was deleted with its channel.
  if (Number(numUpdatedRows) === 0 || settlement.status === 'withheld') return;
  const pauseMs = settlement.status === 'pending' ? settlement.pauseMs : 0;
  if (settlement.status !== 'sent') await noteFailure(em, message, settlement.problem, pauseMs);
  else if (message.lane === 'failing') await forgetFailure(em, message.destination);
}

const removedAtOnce = 5_000;

/** Deletes messages that have ended and were made more than `keptDays` ago, a batch at a time. Returns whether there may be more. */
export async function removeOldMessages(em: Em): Promise<boolean> {
  const old = db(em)
    .selectFrom('outgoing_messages')
    .where('createdAt', '<', sql<string>`now() - make_interval(days => ${keptDays})`)
    .where('status', '<>', 'pending')
    .limit(removedAtOnce)
    .select('id');
  await forgetOldFailures(em, keptDays);
  const { numDeletedRows } = await db(em).deleteFrom('outgoing_messages').where('id', 'in', old).executeTakeFirst();
  return Number(numDeletedRows) === removedAtOnce;
}

/** The longest pause before the next message to a destination that failed. */
const maxQuietMs = 10 * 60_000;

/** Records that a message was not delivered. Until the pause is over, no other message is sent to its destination. */
async function noteFailure(
  em: Em,
  { destination, channelId, address }: MessageDestination,
  problem: string,
  pauseMs: number,
): Promise<void> {
  const seconds = Math.min(pauseMs, maxQuietMs) / 1000;
  const quietUntil = sql<string>`now() + make_interval(secs => ${seconds})`;
  const row = { destination, channelId, address, problem, failingSince: sql<string>`now()` };
  await db(em)
    .insertInto('failing_destinations')
    .values({ ...row, quietUntil })
    .onConflict((conflict) => conflict.column('destination').doUpdateSet({ problem, quietUntil }))
    .execute();
}

/** Forgets the failures of a destination, because a message was delivered there, or because its address has changed. */
export async function forgetFailure(em: Em, destination: string): Promise<void> {
  await db(em).deleteFrom('failing_destinations').where('destination', '=', destination).execute();
}

/** Forgets the failures of all recipients of a channel, which has another address now or is deleted. */
export async function forgetFailuresOf(em: Em, channelId: string): Promise<void> {
  await db(em).deleteFrom('failing_destinations').where('channelId', '=', channelId).execute();
}

/** Forgets the destinations to which nothing was sent for this number of days. */
async function forgetOldFailures(em: Em, days: number): Promise<void> {
  await db(em)
    .deleteFrom('failing_destinations')
    .where('quietUntil', '<', sql<string>`now() - make_interval(days => ${days})`)
    .execute();
}
