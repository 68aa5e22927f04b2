import { type RawBuilder, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';

/** The jobs of a queue that a process may lease now. */
export interface LeaseRequest<Lane extends string> {
  /**
   * The part of a `with` clause that ends in `candidates`: the due jobs and the leased ones, with `id`, `lane`, `holder`, `due_at` and
   * `is_leased`.
   */
  readonly candidates: RawBuilder<unknown>;
  /** How many jobs of each lane this process can begin. */
  readonly places: Readonly<Record<Lane, number>>;
  /** How many jobs of each lane all processes together run for one holder at a time. The remaining places are for others. */
  readonly maxOfOneHolder: Readonly<Record<Lane, number>>;
  /** The table with the column `leased_until`, and its key. In the other members its row is `q`. */
  readonly table: 'webhook_queues' | 'outgoing_messages';
  readonly key: 'webhook_id' | 'id';
  /** Whether a row is still due. It is asked again once the row is locked. */
  readonly isDue: RawBuilder<unknown>;
  /** The time of the lease, which is longer than any job takes. */
  readonly seconds: number;
  /** What else the lease changes; empty or beginning with a comma. */
  readonly changes?: RawBuilder<unknown>;
  /** What the job needs to know besides its lane. */
  readonly returning: RawBuilder<unknown>;
}

/**
 * Leases the due jobs that begin next. The jobs of a killed process are free when their leases have ended. Several processes share a queue:
 * none waits for the rows that another one is leasing.
 */
export async function leaseFairly<Job extends { readonly lane: string }>(
  em: Em,
  request: LeaseRequest<Job['lane']>,
): Promise<Job[]> {
  const { candidates, table, isDue, seconds, changes = sql``, returning } = request;
  const key = sql.ref(`q.${request.key}`);
  const { rows } = await sql<Job>`
    with recursive ${candidates}, ${chooseFairly(request)}, free as (
      select ${key} as id, c.lane from ${sql.table(table)} q join chosen c on c.id = ${key}
       where ${isDue} and (q.leased_until is null or q.leased_until < now())
         for update of q skip locked
    )
    update ${sql.table(table)} q set leased_until = now() + make_interval(secs => ${seconds})${changes}
      from free where ${key} = free.id
    returning free.lane, ${returning}`.execute(db(em));
  return rows;
}

/**
 * Chooses the jobs that begin next, as parts of a `with` clause that end in `chosen (id, lane)`. Within each lane the holders with the
 * fewest running jobs come first, so that many jobs of one holder never delay the few of another. Among equals, the job that has waited
 * longest comes first.
 */
function chooseFairly<Lane extends string>({ places, maxOfOneHolder }: LeaseRequest<Lane>): RawBuilder<unknown> {
  const lanes = (Object.keys(places) as Lane[]).map(
    (lane) => sql`(${lane}::text, ${places[lane]}::int, ${maxOfOneHolder[lane]}::int)`,
  );
  return sql`lanes (lane, places, share) as (values ${sql.join(lanes)}), turns as (
      select c.*, (count(*) filter (where c.is_leased) over (partition by c.lane, c.holder))
                  + row_number() over (partition by c.lane, c.holder, c.is_leased order by c.due_at, c.id) as turn
        from candidates c
    ), numbered as (
      select t.id, t.lane, l.places, row_number() over (partition by t.lane order by t.turn, t.due_at, t.id) as place
        from turns t join lanes l on l.lane = t.lane
       where not t.is_leased and t.turn <= l.share
    ), chosen as (select id, lane from numbered where place <= places)`;
}
