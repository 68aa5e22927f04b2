import { sql } from 'kysely';
import { jsonObjectFrom } from 'kysely/helpers/postgres';
import type { Em } from '#database/database.ts';
import { db, type Over } from '#domain/db.ts';
import { type AvailableVersion, findLatest } from '#domain/registry/versions.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import type { ArchivedFilter } from '#domain/shared/archiving.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging/paging.ts';
import type { RunStatus } from '#domain/shared/vocabulary/runs.ts';
import { archivedComparison } from '#domain/tenancy/store.ts';
import type { AssemblyOperation } from './model.ts';

/** An assembly as lists show it to its readers. */
export interface AssemblyDetails {
  readonly id: string;
  readonly teamId: string;
  readonly name: string;
  readonly slug: string;
  readonly description: string;
  /** Null if no version is published. */
  readonly latestVersion: string | null;
  readonly revision: number;
  readonly createdAt: string;
  readonly archivedAt: string | null;
  /** The newest run; null if it was never run. */
  readonly lastRun: {
    readonly id: string;
    readonly status: RunStatus;
    readonly statusReason: string | null;
    readonly operation: AssemblyOperation;
    readonly environmentId: string;
    readonly createdAt: string;
  } | null;
}

export interface AssemblyFilter extends ArchivedFilter {
  readonly teamId: string | undefined;
  readonly organizationId: string | undefined;
  /** Only assemblies that were run in this environment. */
  readonly environmentId: string | undefined;
  /** A text in the name, the slug or the description, ignoring case. */
  readonly search: string | undefined;
}

/** A page of the assemblies that a principal may read: those of its teams. */
export async function listAssemblies(
  em: Em,
  principal: Principal,
  filter: AssemblyFilter,
  request: PageRequest,
): Promise<Page<AssemblyDetails>> {
  const { teamId, organizationId, environmentId, search } = filter;
  const assemblies = selectAssemblies(em)
    .where('a.archivedAt', archivedComparison(filter), null)
    .where((eb) => isInReadableTeam(principal, eb.ref('a.teamId'), 'hidden'))
    .$if(teamId !== undefined, (query) => query.where('a.teamId', '=', teamId ?? ''))
    .$if(organizationId !== undefined, (query) => query.where((eb) => isInOrganization(eb, organizationId ?? '')))
    .$if(environmentId !== undefined, (query) => query.where((eb) => wasRunIn(eb, environmentId ?? '')))
    .$if(search !== undefined, (query) => query.where((eb) => mentions(eb, search ?? '')));
  const { items, nextCursor } = await pageOf(assemblies, 'a.id', request);
  return { items: items.map(withLatest), nextCursor };
}

/** One assembly; the caller has decided that it may be read. */
export async function readAssembly(em: Em, id: string): Promise<AssemblyDetails | undefined> {
  const row = await selectAssemblies(em).where('a.id', '=', id).executeTakeFirst();
  return row && withLatest(row);
}

function isInOrganization(eb: Over<{ a: 'assemblies' }>, organizationId: string) {
  return eb('a.teamId', 'in', (of) =>
    of.selectFrom('teams as m').where('m.organizationId', '=', organizationId).select('m.id'),
  );
}

function wasRunIn(eb: Over<{ a: 'assemblies' }>, environmentId: string) {
  return eb('a.id', 'in', (of) =>
    of.selectFrom('assembly_runs as r').where('r.environmentId', '=', environmentId).select('r.assemblyId'),
  );
}

function mentions(eb: Over<{ a: 'assemblies' }>, text: string) {
  const fields = sql`${eb.ref('a.name')} || ' ' || ${eb.ref('a.slug')} || ' ' || ${eb.ref('a.description')}`;
  return sql<boolean>`position(${text.toLowerCase()} in lower(${fields})) > 0`;
}

function selectAssemblies(em: Em) {
  return db(em)
    .selectFrom('assemblies as a')
    .where('a.deletedAt', 'is', null)
    .select(['a.id', 'a.teamId', 'a.name', 'a.slug', 'a.description', 'a.revision'])
    .select(['a.createdAt', 'a.archivedAt'])
    .select((eb) => collectVersions(eb).$asScalar().$notNull().as('versions'))
    .select((eb) => selectLastRun(eb).as('lastRun'));
}

function selectLastRun(eb: Over<{ a: 'assemblies' }>) {
  return jsonObjectFrom(
    eb
      .selectFrom('assembly_runs as r')
      .whereRef('r.assemblyId', '=', 'a.id')
      .select(['r.id', 'r.status', 'r.statusReason', 'r.operation'])
      .select(['r.environmentId', 'r.createdAt'])
      .orderBy('r.id', 'desc')
      .limit(1),
  );
}

/**
 * The candidates for the highest version: one release, or the pre-releases of one version, which only `findLatest` can order. All other
 * versions are left out, because an assembly may have very many.
 */
function collectVersions(eb: Over<{ a: 'assemblies' }>) {
  const highest = eb
    .selectFrom('assembly_versions as v')
    .whereRef('v.assemblyId', '=', 'a.id')
    .select('v.version')
    .orderBy((of) => sql`position('-' in split_part(${of.ref('v.version')}, '+', 1)) > 0`)
    .orderBy(
      (of) => sql`string_to_array(split_part(split_part(${of.ref('v.version')}, '+', 1), '-', 1), '.')::numeric[]`,
      'desc',
    )
    .fetch(1, 'with ties');
  return eb.selectFrom(highest.as('highest')).select((of) => {
    const version = sql`jsonb_build_object('version', ${of.ref('highest.version')}, 'yanked', false)`;
    return sql<AvailableVersion[]>`coalesce(jsonb_agg(${version}), '[]')`.as('versions');
  });
}

function withLatest<Row extends { versions: AvailableVersion[] }>({ versions, ...row }: Row) {
  return { ...row, latestVersion: findLatest(versions)?.version ?? null };
}
