import type { Em } from '#database/database.ts';
import { findInstallation } from '../installations/store.ts';
import type { Reason, Selector } from '../model.ts';
import { findPresentPlace } from '../places/place-store.ts';
import type { ActionDetails } from './action-store.ts';
import { type CheckCode, checkAction, findObstacle } from './check.ts';

export interface Explanation {
  readonly allowed: boolean;
  readonly reason: Reason<CheckCode>;
  /** What is in the way of everybody; false: only what is assigned to the subject decides. */
  readonly concernsEverybody: boolean;
}

/**
 * What `checkAction` decides for anybody. The caller has found that the reader may know it, and has begun the snapshot. Undefined: the installation, or
 * the place, was deleted meanwhile.
 */
export async function explainCheck(
  em: Em,
  { action, selector, subjectId }: { action: ActionDetails; selector: Selector; subjectId: string },
): Promise<Explanation | undefined> {
  const target = await findInstallation(em, action.installationId);
  const place = await findPresentPlace(em, selector);
  if (!target || !place) return undefined;
  const installation = { ...target.installation, ownerOrganizationId: target.organizationId };
  const obstacle = await findObstacle(em, { action, installation, place });
  const { allowed, reason } = await checkAction(em, { action, installation, place, subjectId });
  return { allowed, reason, concernsEverybody: obstacle !== null };
}
