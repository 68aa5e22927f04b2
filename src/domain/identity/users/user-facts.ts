import type { Em } from '#database/database.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Refusal } from '#domain/shared/actions.ts';
import { isLastAdministrator } from './administrators.ts';
import type { UserTarget } from './store.ts';
import { findUserDeletionRefusal } from './user-deletion.ts';

/** A user with the facts for the rules about their actions. */
export interface UserWithFacts extends UserTarget {
  readonly isLastAdministrator: boolean;
  readonly deletion: Refusal | null;
}

export async function withUserFacts(em: Em, caller: Principal, user: UserTarget): Promise<UserWithFacts> {
  const [isLast, deletion] = await Promise.all([
    isLastAdministrator(em, user),
    findUserDeletionRefusal(em, caller, user),
  ]);
  return { ...user, isLastAdministrator: isLast, deletion };
}
