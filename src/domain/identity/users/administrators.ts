import type { Em } from '#database/database.ts';
import { Conflict } from '#domain/shared/errors.ts';
import type { PlatformRole } from '../model.ts';
import { hasOtherAdministrator } from './store.ts';

/** The advisory lock of commands that create the first administrator or may remove the last one. */
export const administratorsLock = 'administrators';

/**
 * Refuses a change that would leave the installation without an administrator. An administrator is an enabled user, or an
 * enabled service account whose owner is not deleted, with the role `admin`; which credentials it has does not matter. The
 * caller must hold `administratorsLock`. (specification, *Authentication*, rule 12; *Errors*, 409)
 * @param principal the one that would stop being an administrator
 * @throws Conflict if there is no other administrator
 */
export async function refuseLastAdministrator(
  em: Em,
  principal: { readonly id: string; readonly role: PlatformRole | null; readonly enabled: boolean },
): Promise<void> {
  if (principal.role !== 'admin' || !principal.enabled) return;
  if (await hasOtherAdministrator(em, principal.id)) return;
  throw new Conflict('this is the last administrator: make another user an administrator first', 'last_owner');
}
