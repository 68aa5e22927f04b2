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
import type { Candidate, Candidates } from '#domain/shared/naming/candidates.ts';
import { isNamed, type NameMatch } from '#domain/shared/naming/name-match.ts';
import type { Finder, FoundRow } from './finder.ts';
import { findResources } from './resources-store.ts';
import { findRuns } from './runs-store.ts';
import { findVersions } from './versions-store.ts';

/** The finder of each kind, in the order of the results. */
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
  /** The kinds with more results than these. */
  readonly cut: readonly SearchedKind[];
}

/** The maximum number of results of each kind. A search reads one more, to know whether there are more. */
const maxOfAKind = 10;

/**
 * Finds what the principal may read by an id, the first or last six or more digits of one, or a text in a name; a run also by its
 * idempotency key, its message and the name of its instance. A resource is found by its full id and its address, and a version also by its
 * number. Archived things and deleted runs, which keep their record, are found; other deleted things are not.
 */
export async function search(em: Em, principal: Principal, searched: string): Promise<Found> {
  const text = readSearched(searched);
  const closed = await readGates(em);
  const results: SearchResult[] = [];
  const cut: SearchedKind[] = [];
  // The finders run one after the other, so that a search uses only one connection.
  for (const [kind, find] of Object.entries(finders) as [SearchedKind, Finder][]) {
    // Things of an area that is turned off are not found.
    if (isOfClosedFeature(kind, closed)) continue;
    const rows = await find(em, principal, text, maxOfAKind + 1);
    for (const row of rows.slice(0, maxOfAKind)) results.push({ kind, ...row });
    if (rows.length > maxOfAKind) cut.push(kind);
  }
  return { results, cut };
}

/** The last id in the address of a page, such as one copied from the address bar of a browser; any other text unchanged. */
export function readSearched(text: string): string {
  if (!/^(?:https?:\/\/[^\s/]+)?\/\S+$/i.test(text)) return text;
  const [path = ''] = text.split(/[?#]/);
  return path.split('/').findLast(isId) ?? text;
}

/**
 * The things of a kind that a principal may read and whose id, name, slug or key equals or contains this text, ignoring case; at most
 * `max`.
 */
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
 * The ids of the things that a principal may read and whose name is one of these texts, by the text. A text may also have the name of the
 * owner before the name, as in "Network / Development". Case is ignored. One statement for each kind finds all texts.
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

/** The names of the things of a kind that a principal may read, by their ids. */
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

/** Finds things of a kind by a text in a name. PostgreSQL merges the two queries, so it can use the indexes of the candidates' tables. */
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
 * Finds the people or the service accounts that the caller knows, like a search for people, and the service accounts that the caller may
 * manage. The parent is an organization to which both belong, for the address of the page; callers who manage them do not need it.
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

/** For each of these people, an organization that they share with the caller, if there is one. */
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
