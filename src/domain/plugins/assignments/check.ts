import type { Em } from '#database/database.ts';
import { isCurrent } from '../ceilings/replace.ts';
import { findCeiling } from '../ceilings/store.ts';
import type { InstallationDetails } from '../installations/store.ts';
import { type Reason, selectorOf } from '../model.ts';
import { covers, isInScope } from '../places/containment.ts';
import type { Place } from '../places/place-store.ts';
import type { ActionDetails } from './action-store.ts';
import { type EndCode, findEnd } from './basis.ts';
import { findCovering } from './store.ts';

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
  const covering = (await findCovering(em, { actionId: action.id, subjectId, place })).filter((grant) =>
    covers(selectorOf(grant), place),
  );
  const ends = covering.map((grant) => findEnd(grant, grant.standing));
  if (ends.includes(null)) return { allowed: true, reason: { code: 'assigned', message: messages.assigned } };
  const [end] = ends;
  return end ? { allowed: false, reason: end } : refuse('not_assigned');
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
