import type { z } from 'zod';
import type { Em } from '#database/database.ts';
import { pgArray } from '#database/errors.ts';
import { OrganizationMember } from '#domain/members/entity.ts';
import { addMember, findMember, organizationMembers } from '#domain/members/members.ts';
import { Conflict, Forbidden } from '#domain/shared/errors.ts';
import { countChange } from '#domain/shared/ownership-graph/deletion.ts';
import { readBack, refuseStale } from '#domain/shared/revisions.ts';
import { refuseArchived } from '#domain/tenancy/archiving.ts';
import type { OrganizationRole, TransferOrganization } from './model.ts';
import { findOrganization, type OrganizationTarget } from './store.ts';

/** Somebody to whom an organization is to be handed over. */
export interface NewOwner {
  readonly id: string;
  readonly enabled: boolean;
}

export interface OrganizationTransfer extends OrganizationTarget {
  /** Undefined: there is no such user. */
  readonly newOwner: NewOwner | undefined;
}

/** The organization and who is to own it; the authority of both people changes, so that both are locked before it. */
export async function findOrganizationTransfer(
  em: Em,
  { organization, from, to }: { organization: string; from: string; to: string | undefined },
  lock: boolean,
): Promise<OrganizationTransfer | undefined> {
  const people = await em.execute<NewOwner[]>(
    `select id, enabled from principals where id = any(?::uuid[]) and kind = 'user' and deleted_at is null
      order by id${lock ? ' for no key update' : ''}`,
    [pgArray(to === undefined ? [from] : [from, to])],
  );
  const found = await findOrganization(em, organization, lock && 'change');
  return found && { ...found, newOwner: people.find(({ id }) => id === to) };
}

/**
 * Hands an organization over: the new owner joins it as one, or becomes one, and whoever hands it over stays as an admin.
 * Other owners stay what they are. What was granted under the former ownership never revives.
 * @throws Forbidden for nobody
 * @throws Conflict for somebody disabled or an owner already, something archived, or a stale revision
 */
export async function transferOrganization(
  em: Em,
  formerId: string,
  organization: OrganizationTransfer,
  { expected_revision: expected }: z.output<typeof TransferOrganization>,
): Promise<OrganizationTarget> {
  const { id, newOwner } = organization;
  if (!newOwner) throw new Forbidden('permission denied: there is no such user, or you may not see them');
  refuseArchived(organization);
  refuseStale(organization, expected);
  if (!newOwner.enabled) throw new Conflict('new_owner_user_id: this user is disabled: enable them, or choose another');
  const before = await findMember<OrganizationRole>(em, organizationMembers, id, newOwner.id);
  if (before?.role === 'owner') throw new Conflict('new_owner_user_id: this user is an owner already');
  if (before) await em.nativeUpdate(OrganizationMember, { id: before.id }, { role: 'owner' });
  else await addMember(em, organizationMembers, id, newOwner.id, 'owner');
  await em.nativeUpdate(
    OrganizationMember,
    { organizationId: id, principalId: formerId, role: 'owner' },
    { role: 'admin' },
  );
  await countChange(em, 'organization', id);
  return readBack(findOrganization(em, id));
}
