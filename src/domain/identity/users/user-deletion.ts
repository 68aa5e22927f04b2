import type { Em } from '#database/database.ts';
import { readForChange } from '#database/row-lock.ts';
import { mayReadAccountsOf } from '#domain/shared/access/account-access.ts';
import { installationOwnership, isPlatformAdministrator } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { type Refusal, throwIfRefused } from '#domain/shared/actions.ts';
import { findDeletionRefusal, type ShowsNames } from '#domain/shared/ownership-graph/blockers.ts';
import { cascadeDeletion, lockSoleOwnerships, markDeleted } from '#domain/shared/ownership-graph/deletion.ts';
import { User } from '../entity.ts';
import { refuseLastAdministrator } from './administrators.ts';
import type { UserTarget } from './store.ts';

/**
 * Deletes a user whose row is locked, under `administratorsLock`. Every credential ends, the memberships are removed and the address is
 * free again. Nothing changes if something blocks the deletion: things that need another owner first, and kept history that names the user
 * as its author (specification, *Errors*, conditions 2 and 3).
 * @throws Conflict naming everything that blocks the deletion, and counting what the caller may not read
 */
export async function deleteUser(em: Em, caller: Principal, user: UserTarget): Promise<void> {
  await refuseLastAdministrator(em, user);
  await lockSoleOwnerships(em, 'user', user.id);
  throwIfRefused(await findUserDeletionRefusal(em, caller, user));
  await cascadeDeletion(em, 'user', user.id);
  (await readForChange(em, User, { id: user.id })).clearSignIn();
  await em.flush();
  await markDeleted(em, 'user', user.id);
}

/** Why a user cannot be deleted now: the things that the user owns or created; null if the user can be deleted. */
export function findUserDeletionRefusal(em: Em, caller: Principal, user: UserTarget): Promise<Refusal | null> {
  const showsNames = namesShownTo(caller, user);
  return findDeletionRefusal(em, 'user', user.id, { subject: 'this user', joint: '; and ', showsNames });
}

/**
 * Platform administrators may read everything except the service accounts of other users. Keys that the user issued can belong to such
 * accounts, so they are always counted.
 */
function namesShownTo(caller: Principal, user: UserTarget): ShowsNames {
  const accounts = { ...installationOwnership, ownerUserId: user.id, ownerEnabled: user.enabled };
  return (kind) => {
    if (kind === 'api_key') return false;
    return kind === 'service_account' ? mayReadAccountsOf(caller, accounts) : isPlatformAdministrator(caller);
  };
}
