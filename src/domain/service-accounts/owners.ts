import type { Em } from '#database/database.ts';
import type { PlatformRole } from '#domain/identity/model.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import { findTeamById } from '#domain/teams/store.ts';
import type { Archivable } from '#domain/tenancy/archiving.ts';
import type { NewOwner } from './model.ts';

/** Whoever is to own a service account: a user or a team. */
export interface OwnerTarget extends Ownership, Archivable {
  readonly ownerUserId: string | null;
  /** Of a user who is to own it. */
  readonly user: { readonly role: PlatformRole; readonly enabled: boolean } | null;
}

/** The owner that a request names, locked against change inside a command; undefined where there is no such thing. */
export async function findOwner(em: Em, owner: NewOwner, lock: boolean): Promise<OwnerTarget | undefined> {
  if (owner.team_id === undefined) return findUserAsOwner(em, owner.user_id ?? '', lock);
  const team = await findTeamById(em, owner.team_id, lock);
  return team && { ...team, ownerUserId: null, user: null };
}

async function findUserAsOwner(em: Em, id: string, lock: boolean): Promise<OwnerTarget | undefined> {
  const rows = await em.execute<{ role: PlatformRole; enabled: boolean }[]>(
    `select role, enabled from principals where id = ? and kind = 'user' and deleted_at is null${lock ? ' for share' : ''}`,
    [id],
  );
  return rows[0] && { organizationId: null, teamId: null, ownerUserId: id, archived: [], user: rows[0] };
}
