import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { auditPatterns } from '#domain/webhooks/model.ts';

/** Work that one worker does for all, with the seconds between two times. */
export interface SharedWork {
  readonly name: string;
  readonly seconds: number;
}

/** What a worker might have to do now. Times are milliseconds from now; null: there is nothing. */
export interface DueWork {
  /** By subscriber: when its next row of the outbox is due. */
  readonly outbox: Readonly<Record<string, number>>;
  /** When the next deliveries of a webhook may be sent. */
  readonly deliveriesInMs: number | null;
  /** Whether messages to users or channels wait. */
  readonly hasMessages: boolean;
  /** Whether an enabled webhook hears events, and whether one hears the audit. */
  readonly hearsEvents: boolean;
  readonly hearsAudit: boolean;
  /** The shared work that this worker has taken. It is due again later, whatever becomes of it now. */
  readonly taken: readonly string[];
}

/** Adds the names of shared work that no worker has done before. It is due after one interval. */
export async function addSharedWork(em: Em, works: readonly SharedWork[]): Promise<void> {
  await sql`
    insert into periodic_work (name, due_at)
    select name, now() + make_interval(secs => seconds) from ${asTable(works)} on conflict do nothing`.execute(db(em));
}

/** Finds what is due, by one statement, and takes the shared work that is. */
export async function findDueWork(
  em: Em,
  { subscribers, works }: { readonly subscribers: readonly string[]; readonly works: readonly SharedWork[] },
): Promise<DueWork> {
  const { rows } = await sql<DueWork>`
    with taken as (
      update periodic_work p set due_at = now() + make_interval(secs => w.seconds)
        from ${asTable(works)} where p.name = w.name and p.due_at <= now() returning p.name
    )
    select (select coalesce(jsonb_object_agg(s.name, ${inMs(sql`o.due_at`)}), '{}')
              from unnest(${[...subscribers]}::text[]) s(name)
             cross join lateral (select due_at from outbox where subscriber = s.name order by due_at limit 1) o) as outbox,
           (select ${inMs(sql`min(greatest(q.next_at, q.leased_until))`)}
              from webhook_queues q join webhooks w on w.id = q.webhook_id and w.is_enabled
             where q.next_at is not null) as "deliveriesInMs",
           exists (select from outgoing_messages where status = 'pending') as "hasMessages",
           exists (select from webhooks where is_enabled) as "hearsEvents",
           exists (select from webhooks, jsonb_array_elements_text(events) p
                    where is_enabled and p = any(${[...auditPatterns]}::text[])) as "hearsAudit",
           array(select name from taken) as taken`.execute(db(em));
  const [due] = rows;
  if (!due) throw new Error('PostgreSQL returned no row');
  return due;
}

function asTable(works: readonly SharedWork[]) {
  const names = works.map(({ name }) => name);
  const seconds = works.map(({ seconds }) => seconds);
  return sql`unnest(${names}::text[], ${seconds}::float8[]) as w(name, seconds)`;
}

function inMs(time: ReturnType<typeof sql>) {
  return sql`(extract(epoch from ${time} - now()) * 1000)::float8`;
}
