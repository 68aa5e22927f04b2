import { z } from 'zod';
import { toDenial } from '#api/pipeline/access/authorization.ts';
import { read } from '#api/pipeline/operation.ts';
import { pageOf } from '#api/pipeline/schemas.ts';
import { findContradiction } from '#domain/runs/lists/filter.ts';
import { listRuns } from '#domain/runs/lists/list-store.ts';
import { findRunListTarget, type RunListTarget } from '#domain/runs/lists/target.ts';
import { type Access, decide, type Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { Invalid } from '#domain/shared/errors.ts';
import { pageQuery } from '#domain/shared/paging.ts';
import { filterQuery, scopeQuery, toFilter } from './list-query.ts';
import { accessReview, readAccess } from './operations.ts';
import { ListedRunView, toListedRun } from './views.ts';

export const listAccess: Access = { ...readAccess, review: { ...accessReview, verb: 'list' } };
export const listTargetName = 'the team, organization, environment or instance';

/** A member of an organization may list the runs there: the list holds only those of the teams that the member may read. */
export function listAccessTo(owner: Ownership): Access {
  const { teamAction: _, ...ofMembers } = listAccess;
  return owner.teamId === null && owner.organizationId !== null ? { ...ofMembers, scope: 'organization' } : listAccess;
}

/**
 * Checks every owner that the list names; the pipeline has checked the first one.
 * @throws HiddenResource for one that the caller may not read, and Invalid for owners that rule each other out
 */
export function requireAgreement({ named }: RunListTarget, principal: Principal): void {
  for (const { owner } of named) {
    const access = listAccessTo(owner);
    const denial = toDenial({ targetName: listTargetName }, { decision: decide(principal, access, owner), access });
    if (denial) throw denial;
  }
  const contradiction = findContradiction(named);
  if (contradiction) throw new Invalid(contradiction);
}

export const listAllRuns = read({
  id: 'runs.list',
  route: 'GET /api/v1/runs',
  summary:
    'List runs, newest first; without team_id, organization_id, environment_id, instance_id and scope only those that belong to no team',
  query: z.strictObject({ ...pageQuery, ...scopeQuery, ...filterQuery }),
  description:
    'Every parameter narrows the list. Parameters that name different owners are refused. The runs of a list have no `actions`: ' +
    'read a single run for them.',
  responses: { 200: pageOf('runs', ListedRunView) },
  access: listAccess,
  accessTo: listAccessTo,
  target: ({ em, query }) => findRunListTarget(em, query),
  targetName: listTargetName,
  handle: async ({ em, query, target, principal }) => {
    requireAgreement(target, principal);
    const page = await listRuns(em, principal, { scope: target.scope, filter: toFilter(query), page: query });
    return { runs: page.items.map(toListedRun), next_cursor: page.nextCursor };
  },
});
