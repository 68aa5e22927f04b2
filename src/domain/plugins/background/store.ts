import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging.ts';
import { type SelectorType, selectorOf } from '../model.ts';
import { findLockedPlace, type Place } from '../places/place-store.ts';

/** A background principal as its readers see it. */
export interface BackgroundDetails {
  readonly id: string;
  readonly installationId: string;
  readonly name: string;
  readonly selectorType: SelectorType;
  readonly selectorId: string;
  readonly scopeBasis: string;
  readonly revokedAt: string | null;
  readonly revision: number;
  readonly createdAt: string;
}

/** A background principal with the place that it is for. A lock locks the owners of the place, then its row. */
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

export function findBackground(em: Em, id: string, lock = false): Promise<BackgroundDetails | undefined> {
  const found = selectBackground(em).where('b.id', '=', id);
  return (lock ? found.forNoKeyUpdate('b') : found).executeTakeFirst();
}

/** The background principals of an installation, which the caller has decided may be read. */
export function listBackground(em: Em, installationId: string, request: PageRequest): Promise<Page<BackgroundDetails>> {
  return pageOf(selectBackground(em).where('b.installation_id', '=', installationId), 'b.id', request);
}

function selectBackground(em: Em) {
  return db(em)
    .selectFrom('plugin_background_principals as b')
    .innerJoin('principals as p', 'p.id', 'b.id')
    .select([sql<string>`b.id`.as('id'), 'b.installation_id as installationId', 'p.name'])
    .select(['b.selector_type as selectorType', 'b.selector_id as selectorId', 'b.scope_basis as scopeBasis'])
    .select(['b.revoked_at as revokedAt', 'b.revision', 'b.created_at as createdAt']);
}
