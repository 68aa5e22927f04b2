import { type RawBuilder, sql } from 'kysely';

/** How many jobs may begin in a lane now: at most `places`, and only while a holder has at most `share` jobs running on all workers. */
export interface LaneRoom {
  readonly places: number;
  readonly share: number;
}

/**
 * Chooses the jobs that begin next, as parts of a `with` clause that end in `chosen (id, lane)`. The caller defines `candidates` before
 * them: the due jobs and the leased ones, with `id`, `lane`, `holder`, `due_at` and `is_leased`. Within each lane the holders with the
 * fewest running jobs come first, so that many jobs of one holder never delay the few of another. Among equals, the job that has waited
 * longest comes first.
 */
export function chooseFairly(rooms: Readonly<Record<string, LaneRoom>>): RawBuilder<unknown> {
  const lanes = Object.entries(rooms).map(
    ([lane, { places, share }]) => sql`(${lane}::text, ${places}::int, ${share}::int)`,
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

/** Combines the number of free places of each lane with the share of one holder there. */
export function roomsOf<Lane extends string>(
  places: Readonly<Record<Lane, number>>,
  shares: Readonly<Record<Lane, number>>,
): Record<Lane, LaneRoom> {
  const lanes = Object.keys(shares) as Lane[];
  return Object.fromEntries(lanes.map((lane) => [lane, { places: places[lane], share: shares[lane] }])) as Record<
    Lane,
    LaneRoom
  >;
}
