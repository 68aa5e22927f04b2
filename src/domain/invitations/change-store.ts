import type { Em } from '#database/database.ts';
import { lockRows, readForChange } from '#database/row-lock.ts';
import { db } from '#domain/db.ts';
import { Invitation } from './entity.ts';
import type { Offer } from './policy.ts';

type Place = Pick<Offer, 'organizationId' | 'teamId'>;

/** The generations of inviter, organization and team for which an invitation is sent now. */
function readGenerations(em: Em, inviterId: string, { organizationId, teamId }: Place) {
  return db(em)
    .selectFrom('principals as p')
    .innerJoin('organizations as o', (join) => join.on('o.id', '=', organizationId))
    .leftJoin('teams as t', (join) => join.on('t.id', '=', teamId))
    .where('p.id', '=', inviterId)
    .select(['p.eligibilityGeneration as inviterGeneration', 'o.eligibilityGeneration as organizationGeneration'])
    .select('t.eligibilityGeneration as teamGeneration')
    .executeTakeFirstOrThrow();
}

export interface NewInvitation extends Offer {
  readonly id: string;
  readonly email: string;
  readonly emailKey: string;
  readonly verifier: Buffer;
  readonly lifetimeSeconds: number;
}

export async function insertInvitation(em: Em, senderId: string, invitation: NewInvitation): Promise<void> {
  const { lifetimeSeconds, ...columns } = invitation;
  const sentAt = new Date();
  const expiresAt = new Date(sentAt.getTime() + lifetimeSeconds * 1000);
  const generations = await readGenerations(em, senderId, invitation);
  const times = { createdAt: sentAt, sentAt, expiresAt };
  await em.persist(em.create(Invitation, { ...columns, ...times, ...generations, invitedBy: senderId })).flush();
}

/** Gives an invitation a new token, which is valid for the original lifetime. */
export async function renewInvitation(
  em: Em,
  senderId: string,
  invitation: Place & { readonly id: string },
  verifier: Buffer,
): Promise<void> {
  const [row, generations] = await Promise.all([
    readForChange(em, Invitation, { id: invitation.id }),
    readGenerations(em, senderId, invitation),
  ]);
  row.renew({ verifier, sentAt: new Date(), invitedBy: senderId, ...generations });
  await em.flush();
}

/** Takes a share lock on the team of an invitation, then locks the invitation for a change. */
export async function lockInvitation(em: Em, { id, teamId }: { id: string; teamId: string | null }): Promise<void> {
  if (teamId)
    await lockRows(db(em).selectFrom('teams').where('id', '=', teamId).select('id'), ['teams'], true).execute();
  await db(em).selectFrom('invitations').where('id', '=', id).select('id').forUpdate().execute();
}

/** Locks an organization, then a team of it if `teamId` names one, against change until the commit. */
export async function lockPlace(em: Em, { organizationId, teamId }: Place): Promise<void> {
  const organizations = db(em).selectFrom('organizations').where('id', '=', organizationId).select('id');
  await lockRows(organizations, ['organizations'], 'change').execute();
  if (teamId)
    await lockRows(db(em).selectFrom('teams').where('id', '=', teamId).select('id'), ['teams'], 'change').execute();
}

/** Locks the invitation that has a token; undefined if it now has another token. */
export async function lockByVerifier(em: Em, verifier: Buffer): Promise<{ id: string } | undefined> {
  return db(em).selectFrom('invitations').where('verifier', '=', verifier).select('id').forUpdate().executeTakeFirst();
}
