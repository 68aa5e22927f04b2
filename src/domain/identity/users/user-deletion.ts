import type { Em } from '#database/database.ts';
import { refuseDeletion } from '#domain/shared/ownership-graph/blockers.ts';
import { endBelongings, leaveTombstone, lockShared } from '#domain/shared/ownership-graph/deletion.ts';
import { clearSignIn } from '../passwords/store.ts';
import { refuseLastAdministrator } from './administrators.ts';
import type { UserTarget } from './store.ts';

/**
 * Deletes a user whose row is locked, under `administratorsLock`. Every credential ends, the memberships are removed and the
 * address is free again. Nothing changes where something blocks the deletion: things that need another owner first, and kept
 * history that names the user as its author (specification, *Errors*, 409, conditions 2 and 3).
 * @throws Conflict naming everything that blocks the deletion
 */
export async function deleteUser(em: Em, user: UserTarget): Promise<void> {
  await refuseLastAdministrator(em, user);
  await lockShared(em, 'user', user.id);
  await refuseDeletion(em, 'user', user.id, { subject: 'this user', joint: '; and ' });
  await endBelongings(em, 'user', user.id);
  await clearSignIn(em, user.id);
  await leaveTombstone(em, 'user', user.id);
}
