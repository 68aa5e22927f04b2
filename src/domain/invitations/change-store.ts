import { type ExpressionBuilder, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { lockRows } from '#database/row-lock.ts';
import { db } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import type { Offer } from './policy.ts';

type Place = Pick<Offer, 'organizationId' | 'teamId'>;

/** The columns of a sent invitation: its inviter, and the generations of inviter, organization and team at this time. */
function sentBy(eb: ExpressionBuilder<Tables, 'invitations'>, senderId: string, { organizationId, teamId }: Place) {
  return {
    sentAt: sql<string>`now()`,
    invitedBy: senderId,
    inviterGeneration: eb
      .selectFrom('principals')
      .where('id', '=', senderId)
      .select('eligibilityGeneration')
      .$asScalar()
      .$notNull(),
    organizationGeneration: eb
      .selectFrom('organizations')
      .where('id', '=', organizationId)
      .select('eligibilityGeneration')
      .$asScalar()
      .$notNull(),
    teamGeneration: eb.selectFrom('teams').where('id', '=', teamId).select('eligibilityGeneration'),
  };
}

export interface NewInvitation extends Offer {
  readonly id: string;
  readonly email: string;
  readonly emailKey: string;
  readonly verifier: Buffer;
  readonly lifetimeSeconds: number;
}

export async function insertInvitation(em: Em, senderId: string, invitation: NewInvitation): Promise<void> {
  const { id, organizationId, teamId, email, emailKey, role, teamRole, verifier, lifetimeSeconds } = invitation;
  await db(em)
    .insertInto('invitations')
    .values((eb) => ({
      id,
      organizationId,
      teamId,
      email,
      emailKey,
      role,
      teamRole,
      verifier,
      createdAt: sql<string>`now()`,
      expiresAt: sql<string>`now() + make_interval(secs => ${lifetimeSeconds})`,
      ...sentBy(eb, senderId, invitation),
    }))
    .execute();
}

/** Gives an invitation a new token, for as long as at first. */
export async function renewInvitation(
  em: Em,
  senderId: string,
  invitation: Place & { readonly id: string },
  verifier: Buffer,
): Promise<void> {
  await db(em)
    .updateTable('invitations')
    .set((eb) => ({
      revision: eb('revision', '+', 1),
      verifier,
      expiresAt: sql<string>`now() + (${eb.ref('expiresAt')} - ${eb.ref('sentAt')})`,
      ...sentBy(eb, senderId, invitation),
    }))
    .where('id', '=', invitation.id)
    .execute();
}

export async function markAccepted(em: Em, id: string, acceptedBy: string): Promise<void> {
  await db(em)
    .updateTable('invitations')
    .set((eb) => ({ acceptedAt: sql<string>`now()`, acceptedBy, revision: eb('revision', '+', 1) }))
    .where('id', '=', id)
    .execute();
}

export async function markRevoked(em: Em, id: string): Promise<void> {
  await db(em)
    .updateTable('invitations')
    .set((eb) => ({ revokedAt: sql<string>`now()`, revision: eb('revision', '+', 1) }))
    .where('id', '=', id)
    .execute();
}

/** Revokes a pending invitation that can no longer be accepted, so that another one can take its place. */
export async function replaceInvitation(em: Em, id: string): Promise<void> {
  await db(em).updateTable('invitations').set({ revokedAt: sql<string>`now()` }).where('id', '=', id).execute();
}

/** Shares the team of an invitation against change, then locks the invitation for a change. */
export async function lockInvitation(em: Em, { id, teamId }: { id: string; teamId: string | null }): Promise<void> {
  if (teamId)
    await lockRows(db(em).selectFrom('teams').where('id', '=', teamId).select('id'), ['teams'], true).execute();
  await db(em).selectFrom('invitations').where('id', '=', id).select('id').forUpdate().execute();
}

/** Locks an organization, then a team of it if one is given, against change until the commit. */
export async function lockPlace(em: Em, { organizationId, teamId }: Place): Promise<void> {
  const organizations = db(em).selectFrom('organizations').where('id', '=', organizationId).select('id');
  await lockRows(organizations, ['organizations'], 'change').execute();
  if (teamId)
    await lockRows(db(em).selectFrom('teams').where('id', '=', teamId).select('id'), ['teams'], 'change').execute();
}

/** Locks the invitation that has a token; undefined if it has got another one meanwhile. */
export async function lockByVerifier(em: Em, verifier: Buffer): Promise<{ id: string } | undefined> {
  return db(em).selectFrom('invitations').where('verifier', '=', verifier).select('id').forUpdate().executeTakeFirst();
}
