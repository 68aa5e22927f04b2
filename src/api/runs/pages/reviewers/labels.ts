import type { EncodedAnswerOf } from '#api/pipeline/answers/answer-types.ts';
import { renderIcon } from '#api/web/components/icon.ts';
import { type Html, html } from '#api/web/html.ts';
import { toSentence } from '#api/web/text.ts';
import { type ReviewObstacle, reviewingTakesRole } from '#domain/runs/approval/rules.ts';
import type { ApprovalShortage } from '#domain/runs/approval/shortage.ts';
import type { listOfRun } from '../../approvals/reviewer-operations.ts';

export type Reviewers = EncodedAnswerOf<typeof listOfRun.responses>;
export type ShownReviewer = Reviewers['reviewers'][number];

/** Why a person or an account may or may not approve, in words. */
export function explainReviewer(reviewer: ShownReviewer): string {
  return reviewer.obstacle === null ? `${describeRoles(reviewer)}.` : obstacleWords[reviewer.obstacle](reviewer);
}

/** Warns if too few people can approve; null if enough can. */
export function renderShortage({ shortage }: Pick<Reviewers, 'shortage'>, of: 'run' | 'environment'): Html | null {
  if (shortage === null) return null;
  return html`<div class="notice">${renderIcon('triangle-alert')}<p>${shortageWords[of][shortage]}</p></div>`;
}

const shortageWords: Readonly<Record<'run' | 'environment', Readonly<Record<ApprovalShortage, string>>>> = {
  environment: {
    unreachable:
      'No run that needs approval can get through: fewer people can approve than approvals are required. Add people who can approve, or require fewer approvals.',
    own_runs:
      'Too few people can approve: a run that one of them requests, or whose version one of them published, cannot get through. Add people who can approve, or require fewer approvals.',
    administrators:
      'Runs that need approval get through only with approvals of administrators of this installation: too few people of the team can approve.',
  },
  run: {
    unreachable: 'This run cannot get through: fewer people can approve it than approvals are missing.',
    own_runs: 'This run cannot get through: fewer people can approve it than approvals are missing.',
    administrators:
      'This run gets through only with approvals of administrators of this installation: too few people of the team can approve it.',
  },
};

/** The roles of a person or an account, the platform's first. */
function describeRoles({ role, team_role: inTeam, organization_role: inOrganization }: ShownReviewer): string {
  const roles = [
    role && `platform role ${role}`,
    inTeam && `${inTeam} of the team`,
    !inTeam && inOrganization && `${inOrganization} of the organization`,
  ].filter(Boolean);
  return toSentence(roles.join(', ')).replace(/\.$/, '');
}

const obstacleWords: Readonly<Record<ReviewObstacle, (reviewer: ShownReviewer) => string>> = {
  disabled: () => 'The account is disabled.',
  permission: ({ role }) =>
    role === null
      ? 'The account has no platform role.'
      : `The platform role ${role} does not allow reviews. A user administrator can assign another role.`,
  team_role: (reviewer) => `${describeRoles(reviewer)}: ${reviewingTakesRole}.`,
  requester: () => 'Requested this run, or one that it repeats.',
  publisher: () => 'Published the version of the template.',
  author: () => 'Is responsible for this run, for example for the run that it undoes.',
  already_reviewed: () => 'Has already decided on this run.',
};
