import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { MembershipLevel } from '#domain/memberships/model.ts';
import { onlyGeneration } from '#domain/shared/access/ended-eligibility-store.ts';

/**
 * Ends memberships. The owner's row keeps the highest revision of ended memberships, and new ones begin after it, so that a renewed
 * membership never has an earlier revision. The time of each end is recorded for things that relied on the membership.
 */

const ends = ['thingId', 'generation', 'endedAt'] as const;
const endsOf = sql`select id, ${onlyGeneration}::int, clock_timestamp() from ended`;

interface EndingMembership {
  readonly ownerId: string;
  readonly principalId: string;
}

const removals: { readonly [Level in MembershipLevel]: (em: Em, member: EndingMembership) => Promise<unknown> } = {
  organization: (em, { ownerId, principalId }) =>
    db(em)
      .with('ended', (queries) =>
        queries
          .deleteFrom('organization_members')
          .where('organizationId', '=', ownerId)
          .where('principalId', '=', principalId)
          .returning(['id', 'organizationId', 'revision']),
      )
      .with('noted', (queries) => queries.insertInto('ended_eligibilities').columns(ends).expression(sql`(${endsOf})`))
      .updateTable('organizations')
      .from('ended')
      .set({ removedMemberRevision: sql<number>`greatest(organizations.removed_member_revision, ended.revision)` })
      .whereRef('organizations.id', '=', 'ended.organizationId')
      .execute(),
  team: (em, { ownerId, principalId }) => endTeamMemberships(em, principalId, { column: 't.id', id: ownerId }),
};

/** Ends a membership; the caller has locked the owner's row. */
export async function removeMembership(em: Em, level: MembershipLevel, member: EndingMembership): Promise<void> {
  await removals[level](em, member);
}

/** Ends a principal's memberships of all teams of an organization, whose row the caller has locked. */
export async function removeFromTeams(em: Em, organizationId: string, principalId: string): Promise<void> {
  await endTeamMemberships(em, principalId, { column: 't.organizationId', id: organizationId });
}

/** Ends the memberships of one team, or of all teams of an organization. */
async function endTeamMemberships(
  em: Em,
  principalId: string,
  owner: { readonly column: 't.id' | 't.organizationId'; readonly id: string },
): Promise<void> {
  await db(em)
    .with('ended', (queries) =>
      queries
        .deleteFrom('team_members as m')
        .using('teams as t')
        .whereRef('t.id', '=', 'm.teamId')
        .where(owner.column, '=', owner.id)
        .where('m.principalId', '=', principalId)
        .returning(['m.id', 'm.teamId', 'm.revision']),
    )
    .with('noted', (queries) => queries.insertInto('ended_eligibilities').columns(ends).expression(sql`(${endsOf})`))
    .updateTable('teams')
    .from('ended')
    .set({ removedMemberRevision: sql<number>`greatest(teams.removed_member_revision, ended.revision)` })
    .whereRef('teams.id', '=', 'ended.teamId')
    .execute();
}

/** Revokes the pending invitations that a leaving member has sent, so that joining again does not make them valid. */
export async function revokeInvitationsFrom(
  em: Em,
  { organizationId, teamId }: { readonly organizationId: string; readonly teamId: string | null },
  inviterId: string,
): Promise<void> {
  const pending = db(em)
    .updateTable('invitations')
    .set((eb) => ({ revokedAt: sql<string>`now()`, revision: eb('revision', '+', 1) }))
    .where('invitedBy', '=', inviterId)
    .where('organizationId', '=', organizationId)
    .where('acceptedAt', 'is', null)
    .where('revokedAt', 'is', null);
  await (teamId === null ? pending : pending.where('teamId', '=', teamId)).execute();
}
