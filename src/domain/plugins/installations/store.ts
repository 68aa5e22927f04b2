import { type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { lockRows } from '#database/row-lock.ts';
import type { RowOf } from '#database/tables.ts';
import { db } from '#domain/db.ts';
import type { OwnerIds } from '#domain/owners/owner.ts';
import { isOfOwner, isOfReadableOwner } from '#domain/owners/rows-store.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { type Refusal, throwIfRefused } from '#domain/shared/actions.ts';
import type { Archivable } from '#domain/shared/archiving.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging/paging.ts';
import type { Selector, SelectorType } from '../model.ts';
import { findLockedPlace, type Place } from '../places/place-store.ts';
import { scopeOf } from '../places/scope-store.ts';

/** An installation as its readers see it. */
export type InstallationDetails = RowOf<typeof selectInstallations>;

/** An installation with its owner. */
export interface InstallationTarget extends Ownership, Archivable {
  readonly organizationId: string;
  readonly installation: InstallationDetails;
  /** The organization or team that owns it. */
  readonly place: Place;
}

/** `share`: the installation cannot change until the commit. `change`: the caller changes it. */
type Lock = 'none' | 'share' | 'change';

/** An installation by its id, even a deleted one; undefined if its owner was deleted. A lock locks the owner first. */
export async function findInstallation(
  em: Em,
  id: string,
  lock: Lock = 'none',
): Promise<InstallationTarget | undefined> {
  const known = await selectInstallations(em).where('i.id', '=', id).executeTakeFirst();
  const place = known && (await findLockedPlace(em, ownerOf(known), lock !== 'none'));
  if (!place?.isPresent) return undefined;
  const installation = lock === 'none' ? known : await lockInstallation(em, id, lock);
  if (!installation) return undefined;
  const { organizationId, teamId, archived } = place;
  return { organizationId, teamId, archived, installation, place };
}

/** Locks the installation without its owner, which the caller has locked before. */
function lockInstallation(em: Em, id: string, lock: 'share' | 'change'): Promise<InstallationDetails | undefined> {
  const found = selectInstallations(em).where('i.id', '=', id);
  return lockRows(found, ['i'], lock === 'share' || 'change').executeTakeFirst();
}

/** The selector of the owner of an installation. */
export function ownerOf({ organizationId, teamId }: Pick<InstallationDetails, 'organizationId' | 'teamId'>): Selector {
  return teamId === null ? { type: 'organization', id: organizationId ?? '' } : { type: 'team', id: teamId };
}

/** @throws ActionRefused if an installation was deleted: nothing of it can be approved, assigned or registered any longer */
export function refuseRemoved(installation: Pick<InstallationDetails, 'deletedAt'>): void {
  throwIfRefused(findRemovedRefusal(installation));
}

/** Why nothing can be done with an installation that was deleted; null if it was not. */
export function findRemovedRefusal({ deletedAt }: Pick<InstallationDetails, 'deletedAt'>): Refusal | null {
  return deletedAt === null ? null : { code: 'plugin_removed', message: 'the plugin was removed: install it anew' };
}

/** The refusal to remove a plugin that was already removed; null if its own row allows the removal. */
export function findRemovalRefusal({ deletedAt }: Pick<InstallationDetails, 'deletedAt'>): Refusal | null {
  return deletedAt === null ? null : { code: 'plugin_removed', message: 'the plugin is removed already' };
}

/** The installations of the organizations and teams that a principal may read. Nobody can read those of a deleted owner. */
export function listInstallations(
  em: Em,
  principal: Principal,
  { organizationId, teamId, isDeleted = false, ...request }: PageRequest & OwnerIds & { readonly isDeleted?: boolean },
): Promise<Page<InstallationDetails>> {
  const listed = selectInstallations(em).where((eb) => {
    const owner = { organization: eb.ref('i.organizationId'), team: eb.ref('i.teamId'), project: sql<null>`null` };
    return eb.and([
      isOfReadableOwner(principal, owner, 'administrators'),
      isOfOwner({ organizationId, teamId }, owner),
      eb('i.deletedAt', isDeleted ? 'is not' : 'is', null),
      hasOwner,
    ]);
  });
  return pageOf(listed, 'i.id', request);
}

/** The condition of a statement with an installation as `i` that its owner was not deleted. */
export const hasOwner = sql<SqlBool>`not exists (select from teams w where w.id = i.team_id and w.deleted_at is not null)
  and not exists (select from organizations w where w.id = i.organization_id and w.deleted_at is not null)`;

const ownerType = sql<SelectorType>`case when i.team_id is null then 'organization' else 'team' end`;

function selectInstallations(em: Em) {
  return db(em)
    .selectFrom('plugin_installations as i')
    .innerJoinLateral(scopeOf(ownerType, sql`coalesce(i.team_id, i.organization_id)`), (join) => join.onTrue())
    .select(['i.id', 'i.name', 'i.organizationId', 'i.teamId'])
    .select(['i.activeRelease', 'i.revision', 'i.createdAt'])
    .select(['i.deletedAt', 'i.deletedBy', 'scope.ownership']);
}
