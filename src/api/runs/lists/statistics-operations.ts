import { z } from 'zod';
import { readList } from '#api/pipeline/list.ts';
import { Flag, Time } from '#api/pipeline/schemas.ts';
import { findPeriod, maxDays } from '#domain/runs/lists/period-store.ts';
import { toScope } from '#domain/runs/lists/scope.ts';
import { type Outcomes, toStatistics } from '#domain/runs/lists/statistics.ts';
import { countRuns } from '#domain/runs/lists/statistics-store.ts';
import { TimeZone } from '#domain/shared/values/times.ts';
import { terminalStatuses } from '#domain/shared/vocabulary/runs.ts';
import { listAccess, listAllRuns } from './list-operations.ts';
import { filterQuery, hintOf, nameScope, runOwners, ScopeHint, ScopeName, scopeQuery, toFilter } from './list-query.ts';

const counts = {
  ...(Object.fromEntries(terminalStatuses.map((status) => [status, z.int()])) as Record<
    (typeof terminalStatuses)[number],
    z.ZodInt
  >),
  unfinished: z.int(),
  median_seconds: z
    .number()
    .nullable()
    .describe(
      'The median time from start to end of the runs that have ended, waiting for approval included. Null: none has, or medians were not asked for.',
    ),
};

const StatisticsView = z
  .object({
    from: Time,
    to: Time,
    time_zone: z.string(),
    scope: ScopeName,
    hint: ScopeHint,
    total: z.object(counts),
    days: z.array(z.object({ date: z.string().meta({ format: 'date' }), ...counts })),
  })
  .meta({ id: 'RunStatistics' });

export const getStatistics = readList({
  id: 'runs.get_statistics',
  route: 'GET /api/v1/runs/statistics',
  summary: 'Count runs by the day of their admission and by outcome',
  description:
    'Without an owner, it counts only runs that belong to no team: send `scope=readable` for all runs that you may read, or the id of an owner. ' +
    `With times in \`from\` and \`to\`, the runs are those that the same parameters list. The period has at most ${maxDays} days; by default it ends now and has 30 days. ` +
    'Every day of it has an entry. Deleted runs do not count.',
  query: z.strictObject({
    ...scopeQuery,
    ...filterQuery,
    time_zone: TimeZone.default('UTC').describe(
      'The zone in which days begin, such as Europe/Berlin. Days in `from` and `to` are days of this zone.',
    ),
    medians: Flag.default('true').describe('`false`: without medians, which costs a fraction.'),
  }),
  responses: { 200: StatisticsView },
  access: { ...listAccess, review: { inherits: listAllRuns.id } },
  owners: runOwners,
  handle: async ({ em, query, target, principal }) => {
    const { from: _from, to: _to, ...filters } = query;
    const period = await findPeriod(em, { from: query.from, to: query.to, timeZone: query.time_zone });
    const counted = await countRuns(em, principal, {
      scope: toScope(target, query.scope),
      filter: toFilter(filters),
      period,
      hasMedians: query.medians === 'true',
    });
    const { days, total } = toStatistics(period.days, counted);
    const { from, to, timeZone: time_zone } = period;
    return {
      from,
      to,
      time_zone,
      scope: nameScope(query),
      ...hintOf(query),
      total: toCounts(total),
      days: days.map(({ date, ...day }) => ({ date, ...toCounts(day) })),
    };
  },
});

function toCounts({ medianSeconds, ...outcomes }: Outcomes) {
  return { ...outcomes, median_seconds: medianSeconds };
}
