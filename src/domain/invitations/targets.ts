import type { Em } from '#database/database.ts';
import { findOrganization, type OrganizationTarget } from '#domain/organizations/store.ts';
import { noCredential, type Principal } from '#domain/shared/access/principal.ts';
import { lockPrincipal, readPrincipals } from '#domain/shared/access/store.ts';
import { selectPage } from '#domain/shared/list.ts';
import { type Page, type PageRequest, Where } from '#domain/shared/paging.ts';
import { findTeam, type TeamTarget } from '#domain/teams/store.ts';
import { mayOffer, type Offer } from './policy.ts';
import { hashToken } from './token.ts';

export const invitationStatuses = ['open', 'accepted', 'expired', 'revoked', 'void'] as const;
export type InvitationStatus = (typeof invitationStatuses)[number];

interface InvitationRow extends Offer {
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
  /** Whether organization, team and inviter are what they were when it was sent: none archived, moved or disabled since. */
  readonly isCurrent: boolean;
}

/** An invitation as it stands: never with its token, of which nobody keeps more than a hash. */
export interface Invitation extends InvitationRow {
  readonly status: InvitationStatus;
}

const selectInvitations = `
  select i.id, i.organization_id as "organizationId", i.team_id as "teamId", i.email, i.email_key as "emailKey", i.role,
         i.team_role as "teamRole", i.invited_by as "invitedBy", p.name as "inviterName", i.revision,
         i.created_at as "createdAt", i.sent_at as "sentAt", i.expires_at as "expiresAt", i.accepted_at as "acceptedAt",
         i.accepted_by as "acceptedBy", i.revoked_at as "revokedAt", i.expires_at <= clock_timestamp() as "isExpired",
         (o.archived_at is null and o.deleted_at is null and o.eligibility_generation = i.organization_generation
          and p.enabled and p.deleted_at is null and p.eligibility_generation = i.inviter_generation
          and (i.team_id is null or (t.archived_at is null and t.deleted_at is null
               and t.organization_id = o.id and t.eligibility_generation = i.team_generation))) as "isCurrent"
    from invitations i join organizations o on o.id = i.organization_id join principals p on p.id = i.invited_by
         left join teams t on t.id = i.team_id where true`;

/** An invitation is void once whoever sent it may no longer grant all that it offers. */
function judge(row: InvitationRow, inviter: Principal | undefined): Invitation {
  const isVouchedFor = row.isCurrent && inviter !== undefined && mayOffer(inviter, row);
  return { ...row, status: statusOf(row, isVouchedFor) };
}

function statusOf(row: InvitationRow, isVouchedFor: boolean): InvitationStatus {
  if (row.acceptedAt !== null) return 'accepted';
  if (row.revokedAt !== null) return 'revoked';
  if (!isVouchedFor) return 'void';
  return row.isExpired ? 'expired' : 'open';
}

async function judgeAll(em: Em, rows: readonly InvitationRow[]): Promise<Invitation[]> {
  const undecided = rows.filter(({ acceptedAt, revokedAt }) => acceptedAt === null && revokedAt === null);
  const inviters = await readPrincipals(em, [...new Set(undecided.map(({ invitedBy }) => invitedBy))]);
  return rows.map((row) => judge(row, inviters.get(row.invitedBy)));
}

/** Every invitation into an organization, its teams' included, or into one team. */
export async function listInvitations(
  em: Em,
  { organizationId, teamId }: { organizationId: string; teamId: string | null },
  request: PageRequest,
): Promise<Page<Invitation>> {
  const where = new Where().and('i.organization_id = ?', organizationId).andIf(teamId, 'i.team_id = ?');
  const page = await selectPage<InvitationRow>(em, selectInvitations, where, 'i.id', request);
  return { ...page, items: await judgeAll(em, page.items) };
}

export async function findInvitation(em: Em, id: string): Promise<Invitation | undefined> {
  const rows = await em.execute<InvitationRow[]>(`${selectInvitations} and i.id = ?`, [id]);
  return (await judgeAll(em, rows))[0];
}

/** The invitation not yet used or revoked of an address into the same organization or team. */
export async function findPending(
  em: Em,
  { organizationId, teamId, emailKey }: Pick<InvitationRow, 'organizationId' | 'teamId' | 'emailKey'>,
): Promise<Invitation | undefined> {
  const rows = await em.execute<InvitationRow[]>(
    `${selectInvitations} and i.organization_id = ? and i.team_id is not distinct from ? and i.email_key = ?
        and i.accepted_at is null and i.revoked_at is null`,
    [organizationId, teamId, emailKey],
  );
  return (await judgeAll(em, rows))[0];
}

/** Where an invitation is looked for: a path names the organization, and the team where it goes through one. */
export interface InvitationPath {
  readonly organization: string;
  readonly team: string | null;
  readonly id: string;
}

export type InvitationOwner = OrganizationTarget | TeamTarget;
export type InvitationTarget = InvitationOwner & { readonly invitation: Invitation };

/** An invitation by the path that names it; its owners' rows are shared and its own locked where asked, in that order. */
export async function findInvitationAt(
  em: Em,
  { organization, team, id }: InvitationPath,
  lock = false,
): Promise<InvitationTarget | undefined> {
  const owner = await findInvitationOwner(em, { organization, team }, lock);
  if (!owner) return undefined;
  const belongs = new Where()
    .and('id = ?', id)
    .and('organization_id = ?', owner.organizationId)
    .andIf(team, 'team_id = ?');
  const rows = await em.execute<{ team_id: string | null }[]>(
    `select team_id from invitations where ${belongs.sql}`,
    belongs.params,
  );
  if (!rows[0]) return undefined;
  if (lock) {
    if (rows[0].team_id) await em.execute('select 1 from teams where id = ? for share', [rows[0].team_id]);
    await em.execute('select 1 from invitations where id = ? for update', [id]);
  }
  const invitation = await findInvitation(em, id);
  return invitation && { ...owner, invitation };
}

/** Whose invitations a path is about. */
export function findInvitationOwner(
  em: Em,
  { organization, team }: Omit<InvitationPath, 'id'>,
  lock = false,
): Promise<InvitationOwner | undefined> {
  return team === null ? findOrganization(em, organization, lock) : findTeam(em, { organization, id: team }, lock);
}

/**
 * The invitation that a token stands for; undefined where there is none. For accepting it, whoever sent it, and
 * the organization and the team that it leads into are held until the commit, so that each stays what the decision saw.
 */
export async function findByToken(em: Em, token: string, lock: boolean): Promise<Invitation | undefined> {
  const verifier = hashToken(token);
  const rows = await em.execute<{ id: string; invited_by: string; organization_id: string; team_id: string | null }[]>(
    'select id, invited_by, organization_id, team_id from invitations where verifier = ?',
    [verifier],
  );
  const [row] = rows;
  if (!row) return undefined;
  if (!lock) return findInvitation(em, row.id);
  await lockPrincipal(em, { id: row.invited_by, credential: noCredential(row.invited_by) });
  await em.execute('select 1 from organizations where id = ? for no key update', [row.organization_id]);
  if (row.team_id) await em.execute('select 1 from teams where id = ? for no key update', [row.team_id]);
  // Sent again meanwhile, it has another token.
  const held = await em.execute<{ id: string }[]>('select id from invitations where verifier = ? for update', [
    verifier,
  ]);
  return held[0] && findInvitation(em, held[0].id);
}
