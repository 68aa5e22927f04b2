import type { Em } from '#database/database.ts';
import { isCurrent } from '../ceilings/replace.ts';
import { findCeiling } from '../ceilings/store.ts';
import type { InstallationDetails } from '../installations/store.ts';
import { type Reason, selectorOf } from '../model.ts';
import { covers, isInScope } from '../places/containment.ts';
import type { Place } from '../places/place-store.ts';
import type { ActionDetails } from './action-store.ts';
import { type EndCode, findEnd } from './basis.ts';
import { type CoverageQuestion, findCovering } from './store.ts';

export type CheckCode =
  | EndCode
  | 'assigned'
  | 'not_assigned'
  | 'action_not_declared'
  | 'scope_ineligible'
  | 'outside_installation';

/** Whether somebody may use an action at a place, and why. */
export interface CheckResult {
  readonly allowed: boolean;
  readonly reason: Reason<CheckCode>;
}

const messages = {
  assigned: 'an assignment covers this',
  not_assigned: 'no assignment covers this: whoever manages the memberships there may assign the action',
  action_not_declared: 'the active release does not declare the action',
  action_not_approved: 'the ceiling of the installation does not approve the action for the active release',
  scope_ineligible: 'it, or an owner of it, is archived or was deleted',
  outside_installation: 'it does not belong to the organization or team that installed the plugin',
} as const;

interface Question {
  readonly action: ActionDetails;
  readonly installation: InstallationDetails & { readonly ownerOrganizationId: string };
  readonly place: Place;
  readonly subjectId: string;
}

/**
 * Whether a principal may use an action at a place now. It admits nothing and reserves nothing. The caller has read the question in one snapshot, in which
 * these statements run too. (specification, *Plugin authority*)
 */
export async function checkAction(em: Em, { action, installation, place, subjectId }: Question): Promise<CheckResult> {
  const obstacle = await findObstacle(em, { action, installation, place });
  if (obstacle !== null) return refuse(obstacle);
  const ends = await findEnds(em, { of: { actionId: action.id }, subjectId, place });
  if (ends.includes(null)) return { allowed: true, reason: { code: 'assigned', message: messages.assigned } };
  const [end] = ends;
  return end ? { allowed: false, reason: end } : refuse('not_assigned');
}

/**
 * Whether an assignment to a principal that is in force covers a place. Its subject may ask about the place, whatever else it may read: an
 * assignment for an organization and everything in it needs no membership in the teams.
 */
export async function isCovered(em: Em, question: CoverageQuestion): Promise<boolean> {
  return (await findEnds(em, question)).includes(null);
}

/** What ended each assignment that covers a place, the newest first; null for one that is in force. */
async function findEnds(em: Em, question: CoverageQuestion): Promise<(Reason<EndCode> | null)[]> {
  const found = await findCovering(em, question);
  const covering = found.filter((grant) => covers(selectorOf(grant), question.place));
  return covering.map((grant) => findEnd(grant, grant.standing));
}

/** What keeps everybody from using an action at a place, and from assigning it there; null if nothing does. */
export async function findObstacle(
  em: Em,
  { action, installation, place }: Omit<Question, 'subjectId'>,
): Promise<'outside_installation' | 'action_not_declared' | 'action_not_approved' | 'scope_ineligible' | null> {
  const { id, teamId, ownerOrganizationId: organizationId } = installation;
  if (!isInScope({ id, teamId, organizationId }, place)) return 'outside_installation';
  if (!action.isDeclared) return 'action_not_declared';
  if (!place.isPresent || place.archived.length > 0) return 'scope_ineligible';
  const ceiling = await findCeiling(em, id);
  const isApproved =
    ceiling && isCurrent(ceiling, installation) && ceiling.actions.some(({ name }) => name === action.name);
  return isApproved ? null : 'action_not_approved';
}

export function describeObstacle(code: keyof typeof messages): Reason<CheckCode> {
  return { code, message: messages[code] };
}

function refuse(code: keyof typeof messages): CheckResult {
  return { allowed: false, reason: describeObstacle(code) };
}
