import type { Em } from '#database/database.ts';
import { refuseDeletion } from '#domain/shared/ownership-graph/blockers.ts';
import { endBelongings, leaveTombstone, lockShared } from '#domain/shared/ownership-graph/deletion.ts';
import { clearSignIn } from '../sessions/credentials.ts';
import { refuseLastAdministrator } from './administrators.ts';
import type { UserTarget } from './user-targets.ts';

/**
 * Deletes a user, whose row the caller of this function holds with the lock of administrators: every credential ends, the
 * memberships go and the address is free again. Nothing is done where anything stands in the way: what has to find another
 * owner first, and what names its author for as long as it is kept (specification, *Errors*, 409, conditions 2 and 3).
 * @throws Conflict naming all that stands in the way
 */
export async function deleteUser(em: Em, user: UserTarget): Promise<void> {
  await refuseLastAdministrator(em, user);
  await lockShared(em, 'user', user.id);
  await refuseDeletion(em, 'user', user.id, { subject: 'this user', joint: '; and ' });
  await endBelongings(em, 'user', user.id);
  await clearSignIn(em, user.id);
  await leaveTombstone(em, 'user', user.id);
}
