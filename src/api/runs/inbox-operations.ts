import { z } from 'zod';
import { read } from '#api/pipeline/operation.ts';
import { Flag, pageOf } from '#api/pipeline/schemas.ts';
import { listApprovals } from '#domain/runs/approval/inbox.ts';
import { pageQuery } from '#domain/shared/paging.ts';
import { ListedRunView, toListedRun } from './views.ts';

const PendingApproval = z
  .object({
    asked: z.boolean().describe('Somebody named you in a request for approval of this run.'),
    run: ListedRunView,
  })
  .meta({ id: 'PendingApproval' });

export const list = read({
  id: 'approvals.list',
  route: 'GET /api/v1/approvals',
  summary: 'List the runs that wait for your approval, oldest first',
  description:
    'They are the runs that you may approve now: not your own or of a version that you published, unless the policy allows ' +
    'that, and not those that you have reviewed. A page may hold fewer than `limit`; the last one has no `next_cursor`.',
  query: z.strictObject({
    ...pageQuery,
    asked: Flag.optional().describe('`true`: only runs for which somebody asked you by name.'),
  }),
  responses: { 200: pageOf('approvals', PendingApproval) },
  access: {
    anyOf: ['run:approve'],
    scope: 'platform',
    hidden: 'not_found',
    review: { resource: 'approvals', verb: 'list' },
  },
  handle: async ({ em, principal, query }) => {
    const page = await listApprovals(em, principal, {
      page: query,
      asked: query.asked === 'true',
    });
    const approvals = page.items.map((run) => ({ asked: run.isAsked, run: toListedRun(run.details) }));
    return { approvals, next_cursor: page.nextCursor };
  },
});
