import { type RawBuilder, sql } from 'kysely';

/** What may begin now in a lane: as many jobs as it has places, and of one holder at most its share of what all workers have under way. */
export interface LaneRoom {
  readonly places: number;
  readonly share: number;
}

/**
 * Which jobs begin next, as the parts of a `with` that end in `chosen (id, lane)`. Before them, `candidates` has the jobs that are due and those that
 * are leased: `id`, `lane`, `holder`, `due_at` and `is_leased`. Within each lane holders take turns: those that have fewest jobs under way come
 * first, so that the many jobs of one never delay the few of another, and among equals those that have waited longest.
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

/** Joins how many places each lane has free with the share that one holder may have there. */
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
