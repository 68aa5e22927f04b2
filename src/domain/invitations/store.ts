import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db, type Over } from '#domain/db.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging.ts';
import type { Offer } from './policy.ts';

/** An invitation as the database has it. Only a hash of its token is kept. */
export interface InvitationRow extends Offer {
  readonly id: string;
  readonly email: string;
  readonly emailKey: string;
  readonly invitedBy: string;
  readonly inviterName: string;
  readonly revision: number;
  readonly createdAt: string;
  readonly sentAt: string;
  readonly expiresAt: string;
  readonly acceptedAt: string | null;
  readonly acceptedBy: string | null;
  readonly revokedAt: string | null;
  readonly isExpired: boolean;
  /** False once its organization, team or inviter was archived, transferred, disabled or deleted since it was sent. */
  readonly isCurrent: boolean;
}

type InvitationTables = Over<{ i: 'invitations'; o: 'organizations'; p: 'principals'; t: 'teams' }>;

function isOrganizationCurrent(eb: InvitationTables) {
  return eb.and([
    eb('o.archived_at', 'is', null),
    eb('o.deleted_at', 'is', null),
    eb('o.eligibility_generation', '=', eb.ref('i.organization_generation')),
  ]);
}

function isInviterCurrent(eb: InvitationTables) {
  return eb.and([
    eb('p.enabled', '=', true),
    eb('p.deleted_at', 'is', null),
    eb('p.eligibility_generation', '=', eb.ref('i.inviter_generation')),
  ]);
}

function isTeamCurrent(eb: InvitationTables) {
  const team = eb.and([
    eb('t.archived_at', 'is', null),
    eb('t.deleted_at', 'is', null),
    eb('t.organization_id', '=', eb.ref('o.id')),
    eb('t.eligibility_generation', '=', eb.ref('i.team_generation')),
  ]);
  return eb.or([eb('i.team_id', 'is', null), team]);
}

function selectInvitations(em: Em) {
  return db(em)
    .selectFrom('invitations as i')
    .innerJoin('organizations as o', 'o.id', 'i.organization_id')
    .innerJoin('principals as p', 'p.id', 'i.invited_by')
    .leftJoin('teams as t', 't.id', 'i.team_id')
    .select([
      'i.id',
      'i.organization_id as organizationId',
      'i.team_id as teamId',
      'i.email',
      'i.email_key as emailKey',
      'i.role',
      'i.team_role as teamRole',
      'i.invited_by as invitedBy',
      'p.name as inviterName',
      'i.revision',
      'i.created_at as createdAt',
      'i.sent_at as sentAt',
      'i.expires_at as expiresAt',
      'i.accepted_at as acceptedAt',
      'i.accepted_by as acceptedBy',
      'i.revoked_at as revokedAt',
    ])
    .select((eb) => [
      sql<boolean>`${eb.ref('i.expires_at')} <= clock_timestamp()`.as('isExpired'),
      sql<boolean>`${eb.and([isOrganizationCurrent(eb), isInviterCurrent(eb), isTeamCurrent(eb)])}`.as('isCurrent'),
    ]);
}

/** The invitations into an organization and its teams, or into one team. */
export function listInvitationRows(
  em: Em,
  { organizationId, teamId }: { organizationId: string; teamId: string | null },
  request: PageRequest,
): Promise<Page<InvitationRow>> {
  const all = selectInvitations(em).where('i.organization_id', '=', organizationId);
  return pageOf(teamId === null ? all : all.where('i.team_id', '=', teamId), 'i.id', request);
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
    .where('i.organization_id', '=', organizationId)
    .where('i.team_id', 'is not distinct from', teamId)
    .where('i.email_key', '=', emailKey)
    .where('i.accepted_at', 'is', null)
    .where('i.revoked_at', 'is', null)
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
    .where('organization_id', '=', organizationId)
    .select('team_id as teamId');
  return (teamId === null ? found : found.where('team_id', '=', teamId)).executeTakeFirst();
}

/** The invitation whose token has this hash, with the ids of inviter, organization and team. */
export function findByVerifier(em: Em, verifier: Buffer) {
  return db(em)
    .selectFrom('invitations')
    .where('verifier', '=', verifier)
    .select(['id', 'invited_by as invitedBy', 'organization_id as organizationId', 'team_id as teamId'])
    .executeTakeFirst();
}
