import type { Em } from '#database/database.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { readPrincipals } from '#domain/shared/access/store.ts';
import type { Page, PageRequest } from '#domain/shared/paging/paging.ts';
import type { InvitationStatus } from './model.ts';
import { mayOffer } from './policy.ts';
import { findInvitationRow, findPendingRow, type InvitationRow, type Invitee, listInvitationRows } from './store.ts';

/** An invitation with its status, which depends on the present rights of its inviter. */
export interface InvitationWithStatus extends InvitationRow {
  readonly status: InvitationStatus;
}

/** An invitation is void once its inviter may no longer grant everything that it offers. */
function addStatus(row: InvitationRow, inviter: Principal | undefined): InvitationWithStatus {
  const isVouchedFor = row.isCurrent && inviter !== undefined && mayOffer(inviter, row);
  return { ...row, status: statusOf(row, isVouchedFor) };
}

function statusOf(row: InvitationRow, isVouchedFor: boolean): InvitationStatus {
  if (row.acceptedAt !== null) return 'accepted';
  if (row.revokedAt !== null) return 'revoked';
  if (!isVouchedFor) return 'void';
  return row.isExpired ? 'expired' : 'open';
}

async function addStatuses(em: Em, rows: readonly InvitationRow[]): Promise<InvitationWithStatus[]> {
  const pending = rows.filter(({ acceptedAt, revokedAt }) => acceptedAt === null && revokedAt === null);
  const inviters = await readPrincipals(em, [...new Set(pending.map(({ invitedBy }) => invitedBy))]);
  return rows.map((row) => addStatus(row, inviters.get(row.invitedBy)));
}

/** The invitations into an organization and its teams, or into one team. */
export async function listInvitations(
  em: Em,
  owner: { readonly organizationId: string; readonly teamId: string | null },
  request: PageRequest,
): Promise<Page<InvitationWithStatus>> {
  const page = await listInvitationRows(em, owner, request);
  return { ...page, items: await addStatuses(em, page.items) };
}

export async function findInvitation(em: Em, id: string): Promise<InvitationWithStatus | undefined> {
  const row = await findInvitationRow(em, id);
  return row && (await addStatuses(em, [row]))[0];
}

/** The invitation of an address into the same organization or team that is neither accepted nor revoked. */
export async function findPending(em: Em, invitee: Invitee): Promise<InvitationWithStatus | undefined> {
  const row = await findPendingRow(em, invitee);
  return row && (await addStatuses(em, [row]))[0];
}
