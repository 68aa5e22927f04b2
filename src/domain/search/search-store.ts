import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { findPeople, type KnownPerson } from '#domain/members/people-store.ts';
import { candidatesByKind, type NamedKind, namedKinds } from '#domain/searched-kinds.ts';
import { readGates } from '#domain/settings/store.ts';
import { managesUsers } from '#domain/shared/access/account-succession.ts';
import { decidePermission } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isOfClosedFeature } from '#domain/shared/features/gates.ts';
import { isId } from '#domain/shared/ids.ts';
import { isNamed, type NameMatch } from '#domain/shared/name-match.ts';
import type { Candidate, Candidates } from '#domain/shared/naming/candidates.ts';
import type { Finder, FoundRow } from './finder.ts';
import { findResources } from './resources-store.ts';
import { findRuns } from './runs-store.ts';
import { findVersions } from './versions-store.ts';

/** How each kind is found, in the order in which results are shown. */
const { instance, template, ...named } = candidatesByKind;
const finders = {
  run: findRuns,
  instance: byName(instance),
  resource: findResources,
  template: byName(template),
  template_version: findVersions,
  ...(Object.fromEntries(Object.entries(named).map(([kind, candidates]) => [kind, byName(candidates)])) as Record<
    keyof typeof named,
    Finder
  >),
  user: findAcquaintances('user'),
  service_account: findAcquaintances('service_account'),
} as const satisfies Record<string, Finder>;

export type SearchedKind = keyof typeof finders;
export const searchedKinds = Object.keys(finders) as [SearchedKind, ...SearchedKind[]];

export interface SearchResult extends FoundRow {
  readonly kind: SearchedKind;
}

export interface Found {
  readonly results: readonly SearchResult[];
  /** The kinds of which there are more than these results. */
  readonly cut: readonly SearchedKind[];
}

/** How many results of each kind a search has at most. One more is looked for, to know whether there are more. */
const maxOfAKind = 10;

/**
 * Finds what the principal may read by an id, the first or last six or more digits of one, or a text in a name; a run also by its idempotency key,
 * its message and the name of its instance. A resource is found by its whole id and its address, and a version by its number, too. Archived things and deleted runs, which keep their record, are found; other
 * deleted things are not.
 */
export async function search(em: Em, principal: Principal, searched: string): Promise<Found> {
  const text = readSearched(searched);
  const closed = await readGates(em);
  const results: SearchResult[] = [];
  const cut: SearchedKind[] = [];
  // One after the other: a search takes one connection, however many kinds there are.
  for (const [kind, find] of Object.entries(finders) as [SearchedKind, Finder][]) {
    // What an area that is turned off has is not found.
    if (isOfClosedFeature(kind, closed)) continue;
    const rows = await find(em, principal, text, maxOfAKind + 1);
    for (const row of rows.slice(0, maxOfAKind)) results.push({ kind, ...row });
    if (rows.length > maxOfAKind) cut.push(kind);
  }
  return { results, cut };
}

/** The last id in the address of a page, such as one that was copied from the bar of a browser; another text as it is. */
export function readSearched(text: string): string {
  if (!/^(?:https?:\/\/[^\s/]+)?\/\S+$/i.test(text)) return text;
  const [path = ''] = text.split(/[?#]/);
  return path.split('/').findLast(isId) ?? text;
}

/** Those of a kind that a principal may read and whose id, name, slug or key is this text, or has it in it, in any case; `max` of them at most. */
export function findCalled(
  em: Em,
  principal: Principal,
  {
    kind,
    text,
    match,
    max,
  }: { readonly kind: NamedKind; readonly text: string; readonly match: NameMatch; readonly max: number },
): Promise<Candidate[]> {
  const candidates: Candidates = candidatesByKind[kind];
  return db(em)
    .selectFrom(candidates(em, principal))
    .where((eb) => isNamed(eb.ref('x.id'), [eb.ref('x.name'), eb.ref('x.otherName')], { text, match }))
    .select(['x.id', 'x.name', 'x.otherName', 'x.context', 'x.parentId'])
    .orderBy('x.name')
    .orderBy('x.id')
    .limit(max)
    .execute();
}

/**
 * The ids of what a principal may read and whose name is one of these texts, in any case, alone or behind the name of its owner, as in
 * "Network / Development": by the text, of all that has one of these names. One statement for each kind finds all texts.
 */
export async function findByWholeNames(
  em: Em,
  principal: Principal,
  {
    texts,
    kinds = namedKinds,
  }: { readonly texts: readonly string[]; readonly kinds?: readonly NamedKind[] | undefined },
): Promise<Map<string, string[]>> {
  const ids = new Map<string, string[]>();
  const wanted = [...new Set(texts.map((text) => text.toLowerCase()))];
  for (const kind of wanted.length === 0 ? [] : kinds) {
    if (isOfClosedFeature(kind, principal.closedFeatures)) continue;
    for (const { id, name, behindOwner } of await selectCalled(em, principal, kind, wanted))
      for (const called of new Set([name, behindOwner])) ids.set(called, [...(ids.get(called) ?? []), id]);
  }
  return new Map(texts.map((text) => [text, ids.get(text.toLowerCase()) ?? []]));
}

/** @param wanted in lower case */
function selectCalled(em: Em, principal: Principal, kind: NamedKind, wanted: readonly string[]) {
  const candidates: Candidates = candidatesByKind[kind];
  const name = sql<string>`lower(x.name)`;
  const behindOwner = sql<string>`lower(concat(x.context, ' / ', x.name))`;
  return db(em)
    .selectFrom(candidates(em, principal))
    .where((eb) => eb.or([name, behindOwner].map((each) => eb(each, '=', eb.fn.any(eb.val(wanted))))))
    .select(['x.id', name.as('name'), behindOwner.as('behindOwner')])
    .execute();
}

/** The names of those of a kind, by their ids, that a principal may read. */
export async function readReadableNames(
  em: Em,
  principal: Principal,
  kind: NamedKind,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const candidates: Candidates = candidatesByKind[kind];
  const rows = await db(em)
    .selectFrom(candidates(em, principal))
    .where((eb) => eb('x.id', '=', eb.fn.any(eb.val(ids))))
    .select(['x.id', 'x.name'])
    .execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Finds those of a kind by a text in a name. PostgreSQL merges the two queries, so the indexes of the candidates' tables serve. */
function byName(candidates: Candidates): Finder {
  return (em, principal, text, max) =>
    db(em)
      .selectFrom(candidates(em, principal))
      .where((eb) => isNamed(eb.ref('x.id'), [eb.ref('x.name'), eb.ref('x.otherName')], { text, match: 'part' }))
      .select(['x.id', 'x.name', 'x.context', 'x.parentId'])
      // Names that begin with the text come before names that contain it.
      .orderBy((eb) => sql`not starts_with(lower(${eb.ref('x.name')}), ${text.toLowerCase()})`)
      .orderBy('x.name')
      .limit(max)
      .execute();
}

/**
 * Finds the people or the service accounts that the caller knows, as a search of people does, and the service accounts that the caller may manage. The
 * parent is an organization that both belong to, by which the caller reaches them; whoever manages them reaches them without it.
 */
function findAcquaintances(type: KnownPerson['type']): Finder {
  return async (em, principal, text, max) => {
    if (!decidePermission(principal, { anyOf: ['organization:read'] }).allowed) return [];
    const { people } = await findPeople(em, principal, { text, type, withManaged: true });
    const found = people.slice(0, max);
    const ids = type === 'user' && managesUsers(principal) ? [] : found.map(({ id }) => id);
    const shared = await findSharedOrganizations(em, principal, ids);
    return found.map(({ id, name, email }) => ({ id, name, context: email, parentId: shared.get(id) ?? null }));
  };
}

/** An organization of the caller for each of these people who belongs to any. */
async function findSharedOrganizations(
  em: Em,
  caller: Principal,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db(em)
    .selectFrom('organization_members as m')
    .where('m.principalId', '=', (eb) => eb.fn.any(eb.val(ids)))
    .where('m.organizationId', '=', (eb) => eb.fn.any(eb.val(Object.keys(caller.organizations))))
    .groupBy('m.principalId')
    .select(['m.principalId as id', sql<string>`min(m.organization_id::text)`.as('organization')])
    .execute();
  return new Map(rows.map(({ id, organization }) => [id, organization]));
}
