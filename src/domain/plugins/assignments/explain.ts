import type { Em } from '#database/database.ts';
import { findInstallation } from '../installations/store.ts';
import type { Selector } from '../model.ts';
import { findPresentPlace } from '../places/place-store.ts';
import type { ActionDetails } from './action-store.ts';
import { type CheckResult, checkAction, findObstacle, type Obstacle } from './check.ts';

export interface Explanation extends CheckResult {
  /** The obstacle for everybody at this place. Null: the answer depends on the assignments of the subject. */
  readonly obstacle: Obstacle | null;
}

/**
 * The result of `checkAction` for any subject. The caller has checked that the reader may know it, and has begun the snapshot. Undefined:
 * the installation, or the place, was deleted meanwhile.
 */
export async function explainCheck(
  em: Em,
  { action, selector, subjectId }: { action: ActionDetails; selector: Selector; subjectId: string },
): Promise<Explanation | undefined> {
  const target = await findInstallation(em, action.installationId);
  const place = await findPresentPlace(em, selector);
  if (!target || !place) return undefined;
  const obstacle = await findObstacle(em, { action, target, place });
  return { ...(await checkAction(em, { action, target, place, subjectId })), obstacle };
}
