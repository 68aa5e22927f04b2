import { type ExpressionBuilder, expressionBuilder, type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db, prepareSelect } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging.ts';
import type { RunStatus } from '#domain/shared/vocabulary/runs.ts';
import { type RunDetails, selectRunDetails } from '../details-store.ts';
import { filterConditions, periodConditions } from './conditions.ts';
import { type RunFilter, statusesOf } from './filter.ts';
import { idsOf, indexPartOf } from './index-part.ts';
import type { RunScope } from './scope.ts';
import { partsOf, type ScopePart, selectTeams } from './scope-store.ts';

const selectRuns = prepareSelect((db) => db.selectFrom('runs').select(selectRunDetails));

export interface RunListRequest {
  readonly scope: RunScope;
  readonly filter: RunFilter;
  readonly page: PageRequest;
}

/**
 * A page of runs, newest first. The caller has decided that the scope may be read. The newest ids come from the index of each team and each
 * status, and the page consists of the newest of these. So its cost depends on the number of teams and not on how rare the runs are.
 */
export async function listRuns(em: Em, principal: Principal, request: RunListRequest): Promise<Page<RunDetails>> {
  const { scope, filter, page } = request;
  const statuses = statusesOf(filter);
  const [first, ...others] = partsOf(scope, principal).flatMap((part) =>
    statuses.map((status) => selectNewest(em, part, status, request)),
  );
  if (!first) return { items: [], nextCursor: null };
  const newest = db(em)
    .selectFrom(others.reduce((all, branch) => all.unionAll(branch), first).as('newest'))
    .select('newest.id')
    .orderBy('newest.id', 'desc')
    .limit(page.limit + 1);
  return pageOf(selectRuns(em).where(sql<SqlBool>`${sql.ref('runs.id')} = any(array(${newest}))`), 'runs.id', page);
}

/** The newest ids of each team of a part, all of one status if `status` is set. */
function selectNewest(em: Em, part: ScopePart, status: RunStatus | null, request: RunListRequest) {
  return db(em)
    .selectFrom(selectTeams(em, part).as('owner'))
    .innerJoinLateral(
      (eb) => selectNewestOfOne(eb, part, status, request).as('hit'),
      (join) => join.onTrue(),
    )
    .select('hit.id');
}

type OverOwner = ExpressionBuilder<Tables & { owner: { team: string | null } }, 'owner'>;

function selectNewestOfOne(eb: OverOwner, part: ScopePart, status: RunStatus | null, { filter, page }: RunListRequest) {
  const { conditions, order } = indexPartOf(expressionBuilder<Tables, 'runs'>(), part, status, idsOf(filter, page));
  return eb
    .selectFrom('runs')
    .where((run) => run.and([...filterConditions(run, filter), ...periodConditions(run, filter), ...conditions]))
    .select('runs.id')
    .orderBy(order)
    .limit(page.limit + 1);
}
