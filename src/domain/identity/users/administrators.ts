import type { Em } from '#database/database.ts';
import { type Refusal, throwIfRefused } from '#domain/shared/actions.ts';
import type { PlatformRole } from '#domain/shared/vocabulary/roles.ts';
import { hasOtherAdministrator } from './store.ts';

/** The advisory lock of commands that create the first administrator or may remove the last one. */
export const administratorsLock = 'administrators';

/** A principal that may be an administrator. */
interface MaybeAdministrator {
  readonly id: string;
  readonly role: PlatformRole | null;
  readonly enabled: boolean;
}

/** The refusal of a change that would end the last administrator; null for anybody else. */
export function findLastAdministratorRefusal({ isLastAdministrator }: LastAdministrator): Refusal | null {
  if (!isLastAdministrator) return null;
  return { code: 'last_owner', message: 'this is the last administrator: make another user an administrator first' };
}

export interface LastAdministrator {
  readonly isLastAdministrator: boolean;
}

/** Whether nobody else administers the installation. */
export async function isLastAdministrator(em: Em, { id, role, enabled }: MaybeAdministrator): Promise<boolean> {
  return role === 'admin' && enabled && !(await hasOtherAdministrator(em, id));
}

/**
 * Refuses a change that would leave the installation without an administrator. An administrator is an enabled user, or an enabled service
 * account whose owner is not deleted, with the role `admin`; which credentials it has does not matter. The caller must hold
 * `administratorsLock`. (specification, *Authentication*, rule 12; specification, *Errors*, condition 1)
 * @param principal the principal that would stop being an administrator
 * @throws Conflict if there is no other administrator
 */
export async function refuseLastAdministrator(em: Em, principal: MaybeAdministrator): Promise<void> {
  throwIfRefused(findLastAdministratorRefusal({ isLastAdministrator: await isLastAdministrator(em, principal) }));
}
