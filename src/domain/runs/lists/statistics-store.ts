import { type Expression, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isTerminal, type RunStatus } from '#domain/shared/vocabulary/runs.ts';
import { filterConditions, periodConditions } from './conditions.ts';
import type { RunFilter } from './filter.ts';
import type { Period } from './period-store.ts';
import type { RunScope } from './scope.ts';
import { isOfTeam, partsByTeam, type ScopePart, selectTeams } from './scope-store.ts';

export interface StatisticsRequest {
  readonly scope: RunScope;
  readonly filter: RunFilter;
  readonly period: Period;
  /** Medians sort all counted runs, which takes most of the time. */
  readonly hasMedians: boolean;
}

/**
 * The number of runs of one status that were admitted on one day. Null stands for every day or every status. Only rows for medians have
 * nulls.
 */
export interface RunCount {
  readonly day: string | null;
  readonly status: RunStatus | null;
  readonly runs: number;
  /** The median of the seconds from start to end, in whole milliseconds; null if none has both. */
  readonly medianSeconds: number | null;
}

type Seconds = number | null;

/**
 * Counts the runs of a period by the day of their admission and by status. An index covers everything that is read of finished runs, so the
 * cost depends on the number of runs in the period. Unfinished runs are few.
 */
export async function countRuns(em: Em, principal: Principal, request: StatisticsRequest): Promise<RunCount[]> {
  const groups = groupStatuses(request.filter.statuses);
  const [first, ...others] = partsByTeam(request.scope, principal).flatMap((part) =>
    groups.map((group) => selectCounted(em, part, group, request)),
  );
  if (!first) return [];
  return db(em)
    .selectFrom(others.reduce((all, branch) => all.unionAll(branch), first).as('counted'))
    .select(({ fn, ref }) => [
      sql<string | null>`to_char(${ref('counted.day')}, 'YYYY-MM-DD')`.as('day'),
      'counted.status',
      sql<number>`${fn.countAll()}::int`.as('runs'),
      (request.hasMedians ? medianOf(ref('counted.seconds')) : sql<Seconds>`null`).as('medianSeconds'),
    ])
    .groupBy(
      request.hasMedians
        ? sql`grouping sets ((counted.day, counted.status), (counted.day), ())`
        : ['counted.day', 'counted.status'],
    )
    .execute();
}

function medianOf(seconds: Expression<Seconds>) {
  return sql<Seconds>`round(percentile_cont(0.5) within group (order by ${seconds})::numeric, 3)::float8`;
}

interface Counted {
  readonly finished: boolean;
  /** Null: each of them. */
  readonly statuses: readonly RunStatus[] | null;
}

/** The wanted statuses of finished and of unfinished runs, which come from different indexes. */
function groupStatuses(statuses: readonly RunStatus[] | undefined): Counted[] {
  const groups = [true, false].map((finished) => ({
    finished,
    statuses: statuses?.filter((status) => isTerminal(status) === finished) ?? null,
  }));
  return groups.filter((group) => group.statuses?.length !== 0);
}

/** The counted runs of one part, finished or unfinished. */
function selectCounted(
  em: Em,
  part: ScopePart,
  { finished, statuses }: Counted,
  { filter, period }: StatisticsRequest,
) {
  return db(em)
    .selectFrom('runs')
    .innerJoin(selectTeams(em, part).as('owner'), (join) => join.onTrue())
    .where((run) => run.and([...filterConditions(run, filter), ...periodConditions(run, period)]))
    .where('runs.finishedAt', finished ? 'is not' : 'is', null)
    .$if(part.kind === 'teams', (query) => query.whereRef('runs.teamId', '=', 'owner.team'))
    .$if(part.kind === 'team', (query) => query.where(isOfTeam(part)))
    .$if(statuses !== null, (query) =>
      query.where('runs.status', '=', (eb) => eb.fn.any(eb.val([...(statuses ?? [])]))),
    )
    .select(({ ref }) => [
      sql<string>`(${ref('runs.createdAt')} at time zone ${period.timeZone})::date`.as('day'),
      ref('runs.status').$castTo<RunStatus | null>().as('status'),
      sql<Seconds>`extract(epoch from ${ref('runs.finishedAt')} - ${ref('runs.startedAt')})::float8`.as('seconds'),
    ]);
}
