import type { EncodedAnswerOf } from '#api/pipeline/answers/answer-types.ts';
import { toSentence } from '#api/web/text.ts';
import { type ReviewObstacle, reviewingTakesRole } from '#domain/runs/approval/rules.ts';
import type { listOfRun } from '../../approvals/reviewer-operations.ts';

export type Reviewers = EncodedAnswerOf<typeof listOfRun.responses>;
export type ShownReviewer = Reviewers['reviewers'][number];

/** Why somebody may approve, or may not, in words. */
export function explainReviewer(reviewer: ShownReviewer): string {
  return reviewer.obstacle === null ? `${describeRoles(reviewer)}.` : obstacleWords[reviewer.obstacle](reviewer);
}

/** The roles of somebody, the platform's first. */
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
