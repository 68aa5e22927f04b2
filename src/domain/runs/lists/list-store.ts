import { type Expression, type ExpressionBuilder, expressionBuilder, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db, prepareSelect } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { type IdRange, type IndexGroup, inIndexGroup, orderOfGroup } from '#domain/shared/paging/index-range.ts';
import { afterId, maxRows, type Page, type PageRequest, pageOf, usualRows } from '#domain/shared/paging/paging.ts';
import { isTerminal, type RunStatus } from '#domain/shared/vocabulary/runs.ts';
import { type OverRun, type RunDetails, selectRunDetails } from '../details-store.ts';
import { filterConditions, idRangeOf, periodConditions, statusConditions } from './conditions.ts';
import { type RunFilter, statusesOf } from './filter.ts';
import { type FilterRange, rangeOfFilter } from './filter-index.ts';
import type { RunScope } from './scope.ts';
import { isInPart, isOfTeam, partsOf, type ScopePart, selectTeams } from './scope-store.ts';

/** Which part of an index a list reads, and the order that makes PostgreSQL read this one. */
interface IndexPart {
  readonly conditions: readonly Expression<SqlBool>[];
  readonly order: RawBuilder<unknown>;
}

/** The runs of one team of a part of the scope (`owner.team`), of one status if `status` is set, newest first. */
function indexPartOf(run: OverRun, part: ScopePart, status: RunStatus | null, ids: IdRange): IndexPart {
  const ofStatus = status === null ? [] : statusConditions(run, status);
  const newestFirst = sql`${sql.ref('runs.id')} desc`;
  if (part.kind === 'all') return { conditions: [...inRange(run, ids), ...ofStatus], order: newestFirst };
  const team = teamOf(part);
  if (team === null || (status !== null && !isTerminal(status)))
    // The unfinished runs of the whole installation are few.
    return { conditions: [...inRange(run, ids), ...ofStatus, isIn(run, part)], order: newestFirst };
  const group = groupOf(team, status);
  const isFinished = status === null ? [] : [run('runs.finishedAt', 'is not', null)];
  return { conditions: [inIndexGroup(group, ids), ...isFinished], order: orderOfGroup(group) };
}

/** The ids of a page: those of the period after the previous page. */
function idsOf(filter: RunFilter, page: PageRequest): IdRange {
  const { from, before } = idRangeOf(filter);
  const ends = [before, afterId(page)].filter((end) => typeof end === 'string');
  return { from, before: ends.sort()[0] };
}

function inRange(run: OverRun, { from, before }: IdRange): Expression<SqlBool>[] {
  return [
    ...(from === undefined ? [] : [run('runs.id', '>=', from)]),
    ...(before === undefined ? [] : [run('runs.id', '<', before)]),
  ];
}

function teamOf(part: ScopePart): Expression<unknown> | null {
  if (part.kind === 'teams') return sql.ref('owner.team');
  return part.kind === 'team' && part.teamId !== null ? sql`${part.teamId}::uuid` : null;
}

function isIn(run: OverRun, part: ScopePart): Expression<SqlBool> {
  return part.kind === 'teams' ? run('runs.teamId', '=', sql.ref<string>('owner.team')) : isOfTeam(part);
}

/** The indexes of all runs by team, and of the finished ones by team and status. */
function groupOf(team: Expression<unknown>, status: RunStatus | null): IndexGroup {
  const id = 'runs.id';
  if (status === null) return { columns: ['runs.teamId'], values: [team], id };
  return { columns: ['runs.teamId', 'runs.status'], values: [team, sql.lit(status)], id };
}

const selectRuns = prepareSelect((db) => db.selectFrom('runs').select(selectRunDetails));

interface RunListRequest {
  readonly scope: RunScope;
  readonly filter: RunFilter;
  readonly page: PageRequest;
}

/**
 * A page of runs, newest first. The caller has decided that the scope may be read. The newest ids come from the index of what the filter
 * selects by, such as an instance, or from the index of each team and each status. The page consists of the newest of these. So its cost
 * does not depend on how rare the runs are.
 */
export async function listRuns(em: Em, principal: Principal, request: RunListRequest): Promise<Page<RunDetails>> {
  const { scope, filter, page } = request;
  const range = rangeOfFilter(filter);
  const [first, ...others] = partsOf(scope, principal).flatMap((part) =>
    range
      ? [selectNewestInRange(em, part, range, request)]
      : statusesOf(filter).map((status) => selectNewest(em, part, status, request)),
  );
  if (!first) return { items: [], nextCursor: null };
  const newest = db(em)
    .selectFrom(others.reduce((all, branch) => all.unionAll(branch), first).as('newest'))
    .select('newest.id')
    .orderBy('newest.id', 'desc')
    .limit(page.limit + 1);
  return pageOf(selectRuns(em).where(sql<SqlBool>`${sql.ref('runs.id')} = any(array(${newest}))`), 'runs.id', page);
}

type OverOwner = ExpressionBuilder<Tables & { owner: { team: string | null } }, 'owner'>;

/** The newest ids of each team of a part, all of one status if `status` is set. */
function selectNewest(em: Em, part: ScopePart, status: RunStatus | null, request: RunListRequest) {
  return ofEach(em, part, (owner) => selectNewestOfOne(owner, part, status, request));
}

/**
 * How many rows a list reads of a filter's index range. The number stands in the text of the statement. If it were a parameter, PostgreSQL
 * would plan for a tenth of the range, and sort what another index finds. There are only two numbers, because each text stays prepared.
 */
const limitOfRange = ({ limit }: PageRequest) => sql.lit((limit <= usualRows ? usualRows : maxRows) + 1);

/** The newest ids of a part in the index range of a filter. */
function selectNewestInRange(em: Em, part: ScopePart, range: FilterRange, { filter, page }: RunListRequest) {
  const { column, group, others } = range;
  return ofEach(em, { kind: 'all' }, (owner) =>
    owner
      .selectFrom('runs')
      .where((run) =>
        run.and([
          inIndexGroup(group, idsOf(filter, page)),
          // Some indexes have only runs with a value.
          run(column, 'is not', null),
          ...filterConditions(run, others),
          ...periodConditions(run, filter),
          ...(filter.statuses ? [run('runs.status', 'in', filter.statuses)] : []),
          isInPart(em, part),
        ]),
      )
      .select('runs.id')
      .orderBy(orderOfGroup(group))
      .limit(limitOfRange(page)),
  );
}

/** The ids that a query finds for each team of a part; for all runs, that it finds once. */
function ofEach(em: Em, part: ScopePart, select: (owner: OverOwner) => ReturnType<typeof selectNewestOfOne>) {
  return db(em)
    .selectFrom(selectTeams(em, part).as('owner'))
    .innerJoinLateral(
      (owner) => select(owner).as('hit'),
      (join) => join.onTrue(),
    )
    .select('hit.id');
}

function selectNewestOfOne(eb: OverOwner, part: ScopePart, status: RunStatus | null, { filter, page }: RunListRequest) {
  const { conditions, order } = indexPartOf(expressionBuilder<Tables, 'runs'>(), part, status, idsOf(filter, page));
  return eb
    .selectFrom('runs')
    .where((run) => run.and([...filterConditions(run, filter), ...periodConditions(run, filter), ...conditions]))
    .select('runs.id')
    .orderBy(order)
    .limit(page.limit + 1);
}
