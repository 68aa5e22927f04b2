import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { EndRecord } from '#domain/shared/access/ended-eligibility.ts';
import { endRecord, firstEnd } from '#domain/shared/access/ended-eligibility-store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging/paging.ts';
import { isCounted, type Share } from '../limit-store.ts';
import { pluginRemoved, type Reason, type SelectorType, selectorOf } from '../model.ts';
import type { OwnershipSnapshot } from '../places/ownership-snapshot.ts';
import { findLockedPlace, type Place } from '../places/place-store.ts';
import { findScopeEnd, type ScopeStanding, scopeEnds } from '../places/scope-end.ts';
import { isReadableScope, scopeOf, scopeStanding } from '../places/scope-store.ts';

/** A background principal as its readers see it. */
export interface BackgroundDetails {
  readonly id: string;
  readonly installationId: string;
  readonly name: string;
  readonly selectorType: SelectorType;
  readonly selectorId: string;
  /** The owner chain of its place at the approval. */
  readonly ownerChain: string;
  readonly approvedBy: string;
  readonly revokedAt: string | null;
  readonly revokedBy: string | null;
  readonly revision: number;
  readonly createdAt: string;
  /** The present state of its place. */
  readonly standing: ScopeStanding;
  /** The present owners of its place. */
  readonly ownership: OwnershipSnapshot;
  readonly revocation: EndRecord | null;
  /** When the place was archived, deleted or transferred after the approval. Null: it was not, or it was not recorded. */
  readonly scopeEnd: EndRecord | null;
  /** The removal of the plugin; null if it was not removed. */
  readonly removal: EndRecord | null;
}

/** `ended`: the plugin was removed, or its place was archived, deleted or transferred. From then on, nothing can be assigned to it. */
export const backgroundStates = ['active', 'ended', 'revoked'] as const;
export type BackgroundState = (typeof backgroundStates)[number];

/** Why nothing can be assigned to a background principal any longer, in words by code. */
export const backgroundEnds = {
  revoked: 'the background principal was revoked',
  plugin_removed: pluginRemoved,
  ...scopeEnds,
} as const;
export type BackgroundEndCode = keyof typeof backgroundEnds;

/** Why nothing can be assigned to a background principal any longer, since when, and who caused it. */
export interface BackgroundEnd extends Reason<BackgroundEndCode> {
  /** Null: it was not recorded. */
  readonly at: string | null;
  readonly by: string | null;
}

/** Why nothing can be assigned to a background principal any longer; null while it is possible. */
export function findBackgroundEnd({
  revocation,
  removal,
  ownerChain,
  scopeEnd,
  standing,
}: Pick<BackgroundDetails, 'revocation' | 'removal' | 'ownerChain' | 'scopeEnd' | 'standing'>): BackgroundEnd | null {
  const ended = removal === null ? findScopeEnd(ownerChain, standing) : 'plugin_removed';
  const code = revocation === null ? ended : 'revoked';
  const { at = null, by = null } = revocation ?? removal ?? scopeEnd ?? {};
  return code && { code, message: backgroundEnds[code], at, by };
}

/** A background principal with its place. A lock locks the owners of the place, then its row. */
export async function findBackgroundWithPlace(
  em: Em,
  id: string,
  lock = false,
): Promise<(Place & { readonly background: BackgroundDetails }) | undefined> {
  const known = await findBackground(em, id);
  const place = known && (await findLockedPlace(em, selectorOf(known), lock));
  const background = lock && place ? await findBackground(em, id, true) : known;
  return place && background && { ...place, background };
}

/** A background principal by its id, even a revoked one. */
export function findBackground(em: Em, id: string, lock = false): Promise<BackgroundDetails | undefined> {
  const found = selectBackground(em).where('b.id', '=', id);
  return (lock ? found.forNoKeyUpdate('b') : found).executeTakeFirst();
}

export interface BackgroundFilter {
  readonly installationId?: string | undefined;
  readonly selectorType?: SelectorType | undefined;
  readonly selectorId?: string | undefined;
  readonly state?: BackgroundState | undefined;
}

/** The background principals that act in organizations and teams that a principal may read. */
export function listBackground(
  em: Em,
  principal: Principal,
  { installationId, selectorType, selectorId, state, ...request }: PageRequest & BackgroundFilter,
): Promise<Page<BackgroundDetails>> {
  let listed = selectBackground(em).where(() => isReadableScope(principal));
  if (installationId !== undefined) listed = listed.where('b.installationId', '=', installationId);
  if (selectorType !== undefined) listed = listed.where('b.selectorType', '=', selectorType);
  if (selectorId !== undefined) listed = listed.where('b.selectorId', '=', selectorId);
  if (state !== undefined) listed = listed.where(stateNow, '=', state);
  return pageOf(listed, 'b.id', request);
}

/** Permanently removes ended background principals from the count of a share. The caller has locked the share. */
export async function uncountEndedBackground(em: Em, { installationId, ownerId }: Share): Promise<void> {
  const ended = selectBackground(em)
    .clearSelect()
    .where('b.installationId', '=', installationId)
    .where('b.ownerId', '=', ownerId)
    .where(isCounted('b'))
    .where(stateNow, '<>', 'active')
    .select('b.id');
  await db(em).updateTable('plugin_background_principals').set({ counted: false }).where('id', 'in', ended).execute();
}

/** `BackgroundState`, as `findBackgroundEnd` says. */
const stateNow = sql<BackgroundState>`case when b.revoked_at is not null then 'revoked'
  when i.deleted_at is null and scope.usable_chain = b.scope_basis then 'active' else 'ended' end`;

function selectBackground(em: Em) {
  return db(em)
    .selectFrom('plugin_background_principals as b')
    .innerJoin('principals as p', 'p.id', 'b.id')
    .innerJoin('plugin_installations as i', 'i.id', 'b.installationId')
    .innerJoinLateral(scopeOf(sql`b.selector_type`, sql`b.selector_id`), (join) => join.onTrue())
    .select([sql<string>`b.id`.as('id'), 'b.installationId', 'p.name'])
    .select(['b.selectorType', 'b.selectorId', 'b.scopeBasis as ownerChain'])
    .select(['b.revokedAt', 'b.revokedBy', 'b.approvedBy'])
    .select(['b.revision', 'b.createdAt'])
    .select(endRecord(sql`b.revoked_at`, sql`b.revoked_by`).as('revocation'))
    .select(endRecord(sql`i.deleted_at`, sql`i.deleted_by`).as('removal'))
    .select(firstEnd(sql`b.scope_basis`).as('scopeEnd'))
    .select([scopeStanding.as('standing'), 'scope.ownership']);
}
