import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { SubjectKind } from '#domain/notifications/model.ts';
import { keptDays, type Medium, type MessageContent, media } from '../model.ts';
import { forgetFailure, forgetOldFailures, type MessageDestination, noteFailure } from './failing-store.ts';

/** Longer than any try takes. What a killed worker had leased is free again after it. */
const leaseSeconds = 90;

/** A message that this process may send until its lease ends. */
export interface DueMessage extends MessageDestination {
  readonly id: string;
  readonly medium: Medium;
  readonly userId: string | null;
  readonly content: MessageContent;
  readonly sealedToken: Uint8Array | null;
  readonly subjectKind: SubjectKind | null;
  readonly subjectId: string | null;
  /** How many tries have begun, this one included. */
  readonly attempts: number;
  readonly createdAt: string;
  /** The message before it did not arrive there. */
  readonly isFailing: boolean;
}

/**
 * Leases the oldest message of each destination by some media, if it is due, those that have waited longest first. A destination has one message
 * under way at a time, so one that hangs delays no other. After a failure it gets none for a while. The walk over the destinations reads one row of
 * the index for each.
 */
export async function leaseMessages(em: Em, limit: number, among: readonly Medium[] = media): Promise<DueMessage[]> {
  const { rows } = await sql<DueMessage>`
    with recursive destinations as (
      (select m.destination from outgoing_messages m where m.status = 'pending' order by m.destination limit 1)
      union all
      select (select m.destination from outgoing_messages m
               where m.status = 'pending' and m.destination > d.destination order by m.destination limit 1)
        from destinations d where d.destination is not null
    ), due as (
      select first.id
        from destinations d
        cross join lateral (select m.id, m.medium, m.due_at, m.leased_until from outgoing_messages m
                             where m.status = 'pending' and m.destination = d.destination
                             order by m.due_at, m.id limit 1) first
        left join failing_destinations f on f.destination = d.destination
       where first.medium = any(${[...among]}::text[]) and first.due_at <= now()
         and (first.leased_until is null or first.leased_until < now()) and (f.quiet_until is null or f.quiet_until <= now())
       order by first.due_at
       limit ${limit}
    ), free as (
      select m.id from outgoing_messages m
       where m.id in (select id from due) and m.status = 'pending' and (m.leased_until is null or m.leased_until < now())
         for update skip locked
    )
    update outgoing_messages m
       set leased_until = now() + make_interval(secs => ${leaseSeconds}), attempts = m.attempts + 1
      from free where m.id = free.id
    returning m.id, m.medium, m.user_id as "userId", m.channel_id as "channelId", m.address, m.destination, m.content,
              m.sealed_token as "sealedToken", m.subject_kind as "subjectKind", m.subject_id as "subjectId", m.attempts,
              m.created_at as "createdAt",
              exists (select from failing_destinations f where f.destination = m.destination) as "isFailing"`.execute(
    db(em),
  );
  return rows;
}

/** What has become of a try. */
export type Settlement =
  | { readonly status: 'sent' }
  | { readonly status: 'failed' | 'withheld'; readonly problem: string }
  | { readonly status: 'pending'; readonly problem: string; readonly pauseMs: number };

/**
 * Records the result of a try. It deletes the token once no further try follows. After a failure, nothing else is sent to the destination for a while
 * either: many messages to a server that hangs would keep others waiting.
 */
export async function settleMessage(
  em: Em,
  message: MessageDestination & Pick<DueMessage, 'id' | 'isFailing'>,
  settlement: Settlement,
): Promise<void> {
  const isPending = settlement.status === 'pending';
  const pauseMs = settlement.status === 'pending' ? settlement.pauseMs : 0;
  const { numUpdatedRows } = await db(em)
    .updateTable('outgoing_messages')
    .set({
      status: settlement.status,
      problem: settlement.status === 'sent' ? null : settlement.problem,
      leased_until: null,
      ...(isPending
        ? { due_at: sql<string>`now() + make_interval(secs => ${pauseMs / 1000})` }
        : { settled_at: sql<string>`now()`, sealed_token: null }),
    })
    .where('id', '=', message.id)
    .where('status', '=', 'pending')
    .executeTakeFirstOrThrow();
  // The message went with its channel.
  if (Number(numUpdatedRows) === 0 || settlement.status === 'withheld') return;
  if (settlement.status !== 'sent') await noteFailure(em, message, settlement.problem, pauseMs);
  else if (message.isFailing) await forgetFailure(em, message.destination);
}

const removedAtOnce = 5_000;

/** Deletes messages that ended more than `keptDays` ago, a batch at a time. Answers whether there may be more. */
export async function removeOldMessages(em: Em): Promise<boolean> {
  const old = db(em)
    .selectFrom('outgoing_messages')
    .where('created_at', '<', sql<string>`now() - make_interval(days => ${keptDays})`)
    .where('status', '<>', 'pending')
    .limit(removedAtOnce)
    .select('id');
  await forgetOldFailures(em, keptDays);
  const { numDeletedRows } = await db(em).deleteFrom('outgoing_messages').where('id', 'in', old).executeTakeFirst();
  return Number(numDeletedRows) === removedAtOnce;
}
