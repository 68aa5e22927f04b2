import type { Em } from '#database/database.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Archivable } from '#domain/shared/archiving.ts';
import type { PlatformRole } from '#domain/shared/vocabulary/roles.ts';
import { findTeamById } from '#domain/teams/store.ts';
import type { NewOwner } from './model.ts';
import { findOwnerUser } from './store.ts';

/** The user or team that becomes the owner of a service account. */
export interface OwnerTarget extends Ownership, Archivable {
  readonly ownerUserId: string | null;
  /** Null if a team becomes the owner. */
  readonly user: { readonly role: PlatformRole; readonly enabled: boolean } | null;
}

/** The owner that a request names; undefined if there is no such user or team. `lock` takes share locks until the commit, for a command. */
export async function findAccountOwner(em: Em, owner: NewOwner, lock: boolean): Promise<OwnerTarget | undefined> {
  if (owner.teamId === undefined) return findUserAsOwner(em, owner.userId ?? '', lock);
  const team = await findTeamById(em, owner.teamId, lock);
  return team && { ...team, ownerUserId: null, user: null };
}

async function findUserAsOwner(em: Em, id: string, lock: boolean): Promise<OwnerTarget | undefined> {
  const user = await findOwnerUser(em, id, lock);
  return user && { organizationId: null, teamId: null, ownerUserId: id, archived: [], user };
}
