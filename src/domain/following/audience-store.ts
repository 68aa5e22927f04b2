import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { decide } from '#domain/shared/access/decide.ts';
import { readPrincipals } from '#domain/shared/access/store.ts';
import { followAuthority } from './authority.ts';
import { findFollow } from './follows-store.ts';

/**
 * The people to notify that an instance could not follow: the person who enabled it or answers for the account that did, and those in its
 * team who may enable it.
 */
export async function findFollowAudience(em: Em, instanceId: string): Promise<string[]> {
  const found = await findFollow(em, instanceId);
  if (!found) return [];
  const { authorityType, authorityId, responsibleUserId, teamId, organizationId } = found;
  const author = authorityType === 'user' ? authorityId : responsibleUserId;
  const members = await db(em)
    .selectFrom('team_members')
    .where('teamId', '=', teamId)
    .select('principalId as id')
    .execute();
  const principals = await readPrincipals(
    em,
    members.map(({ id }) => id),
  );
  const mayAct = [...principals.values()].filter(
    (each) => decide(each, { ...followAuthority, review: 'none' }, { teamId, organizationId }).allowed,
  );
  return [...(author === null ? [] : [author]), ...mayAct.map(({ id }) => id)];
}
