import { z } from 'zod';
import { readList } from '#api/pipeline/list.ts';
import { pageOf } from '#api/pipeline/schemas.ts';
import { listRuns } from '#domain/runs/lists/list-store.ts';
import { toScope } from '#domain/runs/lists/scope.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { accessReview, readAccess } from '../operations.ts';
import { ListedRunView, toListedRun } from '../views.ts';
import {
  filterQuery,
  hintOf,
  nameScope,
  runOwners,
  ScopeHint,
  ScopeName,
  scopeQuery,
  toFilter,
  waitingQuery,
} from './list-query.ts';

export const listAccess: Access = { ...readAccess, review: { ...accessReview, verb: 'list' } };

export const listAllRuns = readList({
  id: 'runs.list',
  route: 'GET /api/v1/runs',
  summary:
    'List runs, newest first; without team_id, organization_id, environment_id, instance_id and scope only those that belong to no team',
  query: z.strictObject({ ...pageQuery, ...scopeQuery, ...filterQuery, ...waitingQuery }),
  description:
    'Without an owner, the list holds only runs that belong to no team, and is empty if there are none: send `scope=readable` for all runs that you may ' +
    'read, or `team_id`, `organization_id`, `environment_id` or `instance_id` for those of an owner. Every parameter narrows the list, and `scope` of the answer says whose runs it holds. The runs of a list have no `actions`: read a single run for them.',
  responses: {
    200: pageOf('runs', ListedRunView).extend({ scope: ScopeName, hint: ScopeHint }).meta({ id: 'ListedRunPage' }),
  },
  access: listAccess,
  owners: runOwners,
  handle: async ({ em, query, target, principal }) => {
    const page = await listRuns(em, principal, {
      scope: toScope(target, query.scope),
      filter: { ...toFilter(query), waitingOn: query.waiting_on },
      page: query,
    });
    return {
      runs: page.items.map(toListedRun),
      next_cursor: page.nextCursor,
      scope: nameScope(query),
      ...hintOf(query),
    };
  },
});
