import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { isAbleToOwn } from '#domain/identity/ownership.ts';
import type { MembershipLevel } from '#domain/memberships/model.ts';
import { membershipsOf } from '#domain/memberships/store.ts';
import { columnsOf } from '#domain/shared/ownership-graph/conditions.ts';
import { findNames } from '#domain/shared/ownership-graph/names.ts';

/** Whether the organization or team has another owner who can act. */
export async function hasOtherOwner(em: Em, level: MembershipLevel, ownerId: string, userId: string): Promise<boolean> {
  const found = await db(em)
    .selectFrom(membershipsOf(level))
    .innerJoin('principals as p', 'p.id', 'm.principalId')
    .where('m.ownerId', '=', ownerId)
    .where('m.role', '=', 'owner')
    .where('m.principalId', '<>', userId)
    .where(isAbleToOwn(columnsOf('p')))
    .select('m.id')
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** The slugs of the first few teams of an organization whose only owner is this user, for `enumerate`. */
export function findTeamsOwnedAlone(em: Em, organizationId: string, userId: string): Promise<string[]> {
  const owned = db(em)
    .selectFrom('teams as t')
    .innerJoin('team_members as m', (join) =>
      join.onRef('m.teamId', '=', 't.id').on('m.principalId', '=', userId).on('m.role', '=', 'owner'),
    )
    .where('t.organizationId', '=', organizationId)
    .where('t.deletedAt', 'is', null)
    .where((of) =>
      of.not(
        of.exists(
          of
            .selectFrom('team_members as x')
            .innerJoin('principals as p', 'p.id', 'x.principalId')
            .whereRef('x.teamId', '=', 't.id')
            .where('x.role', '=', 'owner')
            .where('x.principalId', '<>', userId)
            .where(isAbleToOwn(columnsOf('p')))
            .select('x.id'),
        ),
      ),
    )
    .orderBy('t.slug')
    .select('t.slug as name');
  return findNames(owned);
}
