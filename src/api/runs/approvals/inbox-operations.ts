import { z } from 'zod';
import { readList } from '#api/pipeline/list.ts';
import { Flag, pageOf, repeated, Time } from '#api/pipeline/schemas.ts';
import { listApprovals } from '#domain/runs/approval/inbox.ts';
import type { PendingRun } from '#domain/runs/approval/inbox-store.ts';
import { anyReviewAuthority, countApprovals } from '#domain/runs/approval/rules.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { ListedRunView, toListedRun } from '../views.ts';

const PendingApproval = z
  .object({
    asked: z.boolean().describe('A request for approval of this run names you.'),
    request: z
      .object({ by: z.string(), message: z.string(), at: Time })
      .nullable()
      .describe('The latest request that names you; null if there is none.'),
    approvals: z.int().describe('How many approvals of its plan count now. `run.approval.required` are needed.'),
    run: ListedRunView,
  })
  .meta({ id: 'PendingApproval' });

export const list = readList({
  id: 'approvals.list',
  route: 'GET /api/v1/approvals',
  summary: 'List the runs that wait for your approval, oldest first',
  description:
    'They are the runs that you may approve now: not your own or of a version that you published, unless the policy allows ' +
    'that, and not those that you have reviewed. A page may hold fewer than `limit`; the last one has no `next_cursor`.',
  query: z.strictObject({
    ...pageQuery,
    team_id: Id.optional().describe('Only runs of this team.'),
    organization_id: Id.optional().describe("Only runs of this organization's teams."),
    run_id: repeated(Id, { max: 100 }).describe(
      'Only these runs: it says which of them you may approve. Repeat it for several.',
    ),
    asked: Flag.optional().describe('`true`: only runs whose request for approval names you.'),
  }),
  responses: { 200: pageOf('approvals', PendingApproval) },
  access: {
    anyOf: anyReviewAuthority.anyOf,
    scope: 'platform',
    hidden: 'not_found',
    review: { resource: 'approvals', verb: 'list' },
  },
  owners: { organization: 'organization_id', team: 'team_id' },
  handle: async ({ em, principal, query }) => {
    const { team_id: teamId, organization_id: organizationId, asked, run_id: runIds } = query;
    const filter = { asked: asked === 'true', teamId, organizationId, runIds };
    const page = await listApprovals(em, principal, { page: query, ...filter });
    const approvals = page.items.map(toPendingApproval);
    return { approvals, next_cursor: page.nextCursor };
  },
});

function toPendingApproval({ isAsked, request, facts, details }: PendingRun): z.input<typeof PendingApproval> {
  const approvals = facts.approval === null ? 0 : countApprovals(facts.approval);
  return { asked: isAsked, request, approvals, run: toListedRun(details) };
}
