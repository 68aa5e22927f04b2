import type { Em } from '#database/database.ts';
import { isLastAdministrator } from './administrators.ts';
import type { UserTarget } from './store.ts';

/** A user with what the rules about their actions need. */
export interface UserWithFacts extends UserTarget {
  readonly isLastAdministrator: boolean;
}

export async function withUserFacts(em: Em, user: UserTarget): Promise<UserWithFacts> {
  return { ...user, isLastAdministrator: await isLastAdministrator(em, user) };
}
