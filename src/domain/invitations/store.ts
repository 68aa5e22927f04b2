import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import type { RowOf } from '#database/tables.ts';
import { db, type Over } from '#domain/db.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging/paging.ts';

/** An invitation as the database has it. Only a hash of its token is kept. */
export type InvitationRow = RowOf<typeof selectInvitations>;

type InvitationTables = Over<{ i: 'invitations'; o: 'organizations'; p: 'principals'; t: 'teams' }>;

function isOrganizationCurrent(eb: InvitationTables) {
  return eb.and([
    eb('o.archivedAt', 'is', null),
    eb('o.deletedAt', 'is', null),
    eb('o.eligibilityGeneration', '=', eb.ref('i.organizationGeneration')),
  ]);
}

function isInviterCurrent(eb: InvitationTables) {
  return eb.and([
    eb('p.enabled', '=', true),
    eb('p.deletedAt', 'is', null),
    eb('p.eligibilityGeneration', '=', eb.ref('i.inviterGeneration')),
  ]);
}

function isTeamCurrent(eb: InvitationTables) {
  const team = eb.and([
    eb('t.archivedAt', 'is', null),
    eb('t.deletedAt', 'is', null),
    eb('t.organizationId', '=', eb.ref('o.id')),
    eb('t.eligibilityGeneration', '=', eb.ref('i.teamGeneration')),
  ]);
  return eb.or([eb('i.teamId', 'is', null), team]);
}

function selectInvitations(em: Em) {
  return db(em)
    .selectFrom('invitations as i')
    .innerJoin('organizations as o', 'o.id', 'i.organizationId')
    .innerJoin('principals as p', 'p.id', 'i.invitedBy')
    .leftJoin('teams as t', 't.id', 'i.teamId')
    .select([
      'i.id',
      'i.organizationId',
      'i.teamId',
      'i.email',
      'i.emailKey',
      'i.role',
      'i.teamRole',
      'i.invitedBy',
      'p.name as inviterName',
      'i.revision',
      'i.createdAt',
      'i.sentAt',
      'i.expiresAt',
      'i.acceptedAt',
      'i.acceptedBy',
      'i.revokedAt',
    ])
    .select((eb) => [
      sql<boolean>`${eb.ref('i.expiresAt')} <= clock_timestamp()`.as('isExpired'),
      // False once its organization, team or inviter was archived, transferred, disabled or deleted since it was sent.
      sql<boolean>`${eb.and([isOrganizationCurrent(eb), isInviterCurrent(eb), isTeamCurrent(eb)])}`.as('isCurrent'),
    ]);
}

/** The invitations into an organization and its teams, or into one team. */
export function listInvitationRows(
  em: Em,
  { organizationId, teamId }: { organizationId: string; teamId: string | null },
  request: PageRequest,
): Promise<Page<InvitationRow>> {
  const all = selectInvitations(em).where('i.organizationId', '=', organizationId);
  return pageOf(teamId === null ? all : all.where('i.teamId', '=', teamId), 'i.id', request);
}

export function findInvitationRow(em: Em, id: string): Promise<InvitationRow | undefined> {
  return selectInvitations(em).where('i.id', '=', id).executeTakeFirst();
}

/** An address and the organization or team into which it is invited. */
export interface Invitee {
  readonly organizationId: string;
  readonly teamId: string | null;
  readonly emailKey: string;
}

/** The invitation of an address into the same organization or team that is neither accepted nor revoked. */
export function findPendingRow(
  em: Em,
  { organizationId, teamId, emailKey }: Invitee,
): Promise<InvitationRow | undefined> {
  return selectInvitations(em)
    .where('i.organizationId', '=', organizationId)
    .where('i.teamId', 'is not distinct from', teamId)
    .where('i.emailKey', '=', emailKey)
    .where('i.acceptedAt', 'is', null)
    .where('i.revokedAt', 'is', null)
    .executeTakeFirst();
}

/** The team of an invitation, if it has one; undefined if there is no such invitation into this organization or team. */
export function findTeamInvitedTo(
  em: Em,
  id: string,
  { organizationId, teamId }: { organizationId: string; teamId: string | null },
): Promise<{ teamId: string | null } | undefined> {
  const found = db(em)
    .selectFrom('invitations')
    .where('id', '=', id)
    .where('organizationId', '=', organizationId)
    .select('teamId');
  return (teamId === null ? found : found.where('teamId', '=', teamId)).executeTakeFirst();
}

/** The invitation whose token has this hash, with the ids of inviter, organization and team. */
export function findByVerifier(em: Em, verifier: Buffer) {
  return db(em)
    .selectFrom('invitations')
    .where('verifier', '=', verifier)
    .select(['id', 'invitedBy', 'organizationId', 'teamId'])
    .executeTakeFirst();
}
