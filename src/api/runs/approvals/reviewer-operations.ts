import { z } from 'zod';
import { readAccess as environmentAccess } from '#api/environments/operations.ts';
import { read } from '#api/pipeline/operation.ts';
import { AnswerId } from '#api/pipeline/schemas.ts';
import { TeamParams, readAccess as teamAccess, teamOf } from '#api/teams/operations.ts';
import { findEnvironment } from '#domain/environments/store.ts';
import {
  findEnvironmentReviewers,
  findRunReviewers,
  findTeamReviewers,
  maxPossibleReviewers,
  type PossibleReviewer,
} from '#domain/runs/approval/reviewers.ts';
import { reviewObstacles } from '#domain/runs/approval/rules.ts';
import { approvalShortages } from '#domain/runs/approval/shortage.ts';
import { findRun } from '#domain/runs/store.ts';
import { Id } from '#domain/shared/ids.ts';
import { organizationRoles, platformRoles, teamRoles } from '#domain/shared/vocabulary/roles.ts';
import { RunParams, readAccess as runAccess } from '../operations.ts';

const PossibleReviewerView = z
  .object({
    type: z.enum(['user', 'service_account']),
    id: AnswerId,
    name: z.string(),
    role: z.enum(platformRoles).nullable().describe('The platform role, which gives the permission to review.'),
    team_role: z.enum(teamRoles).nullable(),
    organization_role: z.enum(organizationRoles).nullable(),
    may_approve: z.boolean(),
    obstacle: z
      .enum(reviewObstacles)
      .nullable()
      .describe(
        'Why not: disabled; the platform role lacks the permission; the role in the team or the organization lacks the action ' +
          '`team.metadata.write`; or, for one run, requested it, published its version, answers for it in another way, or reviewed it already.',
      ),
  })
  .meta({ id: 'PossibleReviewer' });

const PossibleReviewersView = z
  .object({
    reviewers: z.array(PossibleReviewerView),
    cut: z.boolean().describe(`Whether there are more people than these ${maxPossibleReviewers}.`),
    shortage: z
      .enum(approvalShortages)
      .nullable()
      .describe(
        'Why too few people can approve: `unreachable`: fewer than the approvals that are needed; `own_runs`: too few beside the one of them who ' +
          'requested a run or published its version; `administrators`: only with administrators of the installation. Null: enough can. Always null for a team.',
      ),
  })
  .meta({ id: 'PossibleReviewers' });

const description =
  'Lists the members of the team and those who administer its organization, with the rules by which reviews are decided. ' +
  'Administrators of the installation may review, too; they are listed only where they are members.';

function viewReviewers({ reviewers, isCut, shortage }: Awaited<ReturnType<typeof findTeamReviewers>>) {
  return { reviewers: reviewers.map(viewReviewer), cut: isCut, shortage };
}

function viewReviewer({ type, id, name, role, teamRole, organizationRole, obstacle }: PossibleReviewer) {
  const roles = { role, team_role: teamRole, organization_role: organizationRole };
  return { type, id, name, ...roles, may_approve: obstacle === null, obstacle };
}

export const listOfTeam = read({
  id: 'teams.list_reviewers',
  route: 'GET /api/v1/organizations/:orgID/teams/:id/reviewers',
  summary: 'List who may approve runs of a team, and why others may not',
  description,
  params: TeamParams,
  responses: { 200: PossibleReviewersView },
  access: { ...teamAccess, review: { inherits: 'teams.get' } },
  target: ({ em, params }) => teamOf(em, params),
  targetName: 'team',
  handle: async ({ em, target }) => viewReviewers(await findTeamReviewers(em, target)),
});

export const listOfEnvironment = read({
  id: 'environments.list_reviewers',
  route: 'GET /api/v1/environments/:id/reviewers',
  summary: 'List who may approve runs in an environment, and why others may not',
  description,
  params: z.strictObject({ id: Id }),
  responses: { 200: PossibleReviewersView },
  access: { ...environmentAccess, review: { inherits: 'environments.get' } },
  target: ({ em, params }) => findEnvironment(em, params.id),
  targetName: 'environment',
  handle: async ({ em, target }) => viewReviewers(await findEnvironmentReviewers(em, target)),
});

export const listOfRun = read({
  id: 'runs.list_reviewers',
  route: 'GET /api/v1/runs/:id/approval/reviewers',
  summary: 'List who may approve a run, and why others may not',
  description,
  params: RunParams,
  responses: { 200: PossibleReviewersView },
  access: { ...runAccess, review: { inherits: 'runs.get' } },
  target: ({ em, params }) => findRun(em, params.id),
  targetName: 'run',
  handle: async ({ em, params }) => viewReviewers(await findRunReviewers(em, params.id)),
});
