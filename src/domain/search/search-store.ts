import { type Expression, type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { isPlatformAdministrator } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import { isId } from '#domain/shared/ids.ts';

/** What a search finds, in the order in which results are shown. */
export const searchedKinds = [
  'run',
  'instance',
  'environment',
  'template',
  'project',
  'team',
  'organization',
  'user',
] as const;
export type SearchedKind = (typeof searchedKinds)[number];

export interface SearchResult {
  readonly kind: SearchedKind;
  readonly id: string;
  readonly name: string;
  /** What tells it apart from others of the same name: the owner, or an address; null if there is nothing. */
  readonly context: string | null;
  /** The organization of a team, which is part of its address; null for other kinds. */
  readonly organizationId: string | null;
}

/** How many results of each kind a search has at most. */
const mostOfAKind = 10;

/**
 * Finds what the principal may read: a run by its id or its idempotency key, and everything else by its id, or by a text in its name or short
 * name, in any case. Archived things and deleted runs, which keep their record, are found; other deleted things are not. Names that begin with the text come first.
 */
export async function search(em: Em, principal: Principal, text: string): Promise<SearchResult[]> {
  const wanted = { em, principal, text };
  const finders = isPlatformAdministrator(principal) ? [...findersForAll, findUsers] : findersForAll;
  const found: SearchResult[] = [];
  // One after the other: a search takes one connection, however many kinds there are.
  for (const find of finders) found.push(...(await find(wanted)));
  return found;
}

interface Wanted {
  readonly em: Em;
  readonly principal: Principal;
  readonly text: string;
}

const findersForAll = [
  findRuns,
  findInstances,
  findEnvironments,
  findTemplates,
  findProjects,
  findTeams,
  findOrganizations,
];

/** A piece of the id that pages show is not enough: only the whole id finds a run. */
async function findRuns({ em, principal, text }: Wanted): Promise<SearchResult[]> {
  const id = text.toLowerCase();
  if (!isId(id)) return [];
  const rows = await db(em)
    .selectFrom('runs')
    .innerJoin('instances as i', 'i.id', 'runs.instance_id')
    .where((eb) => eb.or([eb('runs.id', '=', id), eb('runs.idempotency_key', '=', id)]))
    .where((eb) => isInReadableTeam(principal, eb.ref('runs.team_id'), 'visible'))
    .select(['runs.id', 'i.name', 'runs.status as context'])
    .limit(mostOfAKind)
    .execute();
  return rows.map((row) => ({ kind: 'run', ...row, organizationId: null }));
}

async function findInstances({ em, principal, text }: Wanted): Promise<SearchResult[]> {
  const rows = await db(em)
    .selectFrom('instances as x')
    .leftJoin('environments as e', 'e.id', 'x.environment_id')
    .where('x.deleted_at', 'is', null)
    .where((eb) => isInReadableTeam(principal, eb.ref('x.team_id'), 'visible'))
    .where((eb) => isNamed(eb.ref('x.id'), [eb.ref('x.name')], text))
    .select(['x.id', 'x.name', 'e.name as context'])
    .orderBy((eb) => rank(eb.ref('x.name'), text))
    .orderBy('x.name')
    .limit(mostOfAKind)
    .execute();
  return rows.map((row) => ({ kind: 'instance', ...row, organizationId: null }));
}

async function findEnvironments({ em, principal, text }: Wanted): Promise<SearchResult[]> {
  const rows = await db(em)
    .selectFrom('environments as x')
    .innerJoin('projects as p', 'p.id', 'x.project_id')
    .where('x.deleted_at', 'is', null)
    .where((eb) => isInReadableTeam(principal, eb.ref('p.team_id'), 'hidden'))
    .where((eb) => isNamed(eb.ref('x.id'), [eb.ref('x.name'), eb.ref('x.slug')], text))
    .select(['x.id', 'x.name', 'p.name as context'])
    .orderBy((eb) => rank(eb.ref('x.name'), text))
    .orderBy('x.name')
    .limit(mostOfAKind)
    .execute();
  return rows.map((row) => ({ kind: 'environment', ...row, organizationId: null }));
}

async function findTemplates({ em, principal, text }: Wanted): Promise<SearchResult[]> {
  const rows = await db(em)
    .selectFrom('templates as x')
    .leftJoin('teams as t', 't.id', 'x.team_id')
    .where('x.deleted_at', 'is', null)
    .where((eb) => isInReadableTeam(principal, eb.ref('x.team_id'), 'visible'))
    .where((eb) => isNamed(eb.ref('x.id'), [eb.ref('x.name'), eb.ref('x.slug')], text))
    .select(['x.id', 'x.name', 't.name as context'])
    .orderBy((eb) => rank(eb.ref('x.name'), text))
    .orderBy('x.name')
    .limit(mostOfAKind)
    .execute();
  return rows.map((row) => ({ kind: 'template', ...row, organizationId: null }));
}

async function findProjects({ em, principal, text }: Wanted): Promise<SearchResult[]> {
  const rows = await db(em)
    .selectFrom('projects as x')
    .innerJoin('teams as t', 't.id', 'x.team_id')
    .where('x.deleted_at', 'is', null)
    .where((eb) => isInReadableTeam(principal, eb.ref('x.team_id'), 'hidden'))
    .where((eb) => isNamed(eb.ref('x.id'), [eb.ref('x.name'), eb.ref('x.slug')], text))
    .select(['x.id', 'x.name', 't.name as context'])
    .orderBy((eb) => rank(eb.ref('x.name'), text))
    .orderBy('x.name')
    .limit(mostOfAKind)
    .execute();
  return rows.map((row) => ({ kind: 'project', ...row, organizationId: null }));
}

async function findTeams({ em, principal, text }: Wanted): Promise<SearchResult[]> {
  const rows = await db(em)
    .selectFrom('teams as x')
    .innerJoin('organizations as o', 'o.id', 'x.organization_id')
    .where('x.deleted_at', 'is', null)
    .where((eb) => isInReadableTeam(principal, eb.ref('x.id'), 'hidden'))
    .where((eb) => isNamed(eb.ref('x.id'), [eb.ref('x.name'), eb.ref('x.slug')], text))
    .select(['x.id', 'x.name', 'o.name as context', 'x.organization_id as organizationId'])
    .orderBy((eb) => rank(eb.ref('x.name'), text))
    .orderBy('x.name')
    .limit(mostOfAKind)
    .execute();
  return rows.map((row) => ({ kind: 'team', ...row }));
}

async function findOrganizations({ em, principal, text }: Wanted): Promise<SearchResult[]> {
  const own = Object.keys(principal.organizations);
  const rows = await db(em)
    .selectFrom('organizations as x')
    .where('x.deleted_at', 'is', null)
    .where((eb) => (isPlatformAdministrator(principal) ? eb.lit(true) : eb('x.id', '=', eb.fn.any(eb.val(own)))))
    .where((eb) => isNamed(eb.ref('x.id'), [eb.ref('x.name'), eb.ref('x.slug')], text))
    .select(['x.id', 'x.name'])
    .orderBy((eb) => rank(eb.ref('x.name'), text))
    .orderBy('x.name')
    .limit(mostOfAKind)
    .execute();
  return rows.map((row) => ({ kind: 'organization', ...row, context: null, organizationId: null }));
}

async function findUsers({ em, text }: Wanted): Promise<SearchResult[]> {
  const rows = await db(em)
    .selectFrom('principals as x')
    .innerJoin('users as u', 'u.id', 'x.id')
    .where('x.deleted_at', 'is', null)
    .where((eb) => isNamed(eb.ref('x.id'), [eb.ref('x.name'), eb.ref('u.email')], text))
    .select(['x.id', 'x.name', 'u.email as context'])
    .orderBy((eb) => rank(eb.ref('x.name'), text))
    .orderBy('x.name')
    .limit(mostOfAKind)
    .execute();
  return rows.map((row) => ({ kind: 'user', ...row, organizationId: null }));
}

type Column = Expression<string> | Expression<string | null>;

function isNamed(id: Column, names: readonly Column[], text: string): Expression<SqlBool> {
  const wanted = text.toLowerCase();
  if (isId(wanted)) return sql<SqlBool>`${id} = ${wanted}::uuid`;
  const matches = names.map((name) => sql<SqlBool>`position(${wanted} in lower(${name})) > 0`);
  return sql<SqlBool>`(${sql.join(matches, sql` or `)})`;
}

/** Names that begin with the text come before names that contain it. */
function rank(name: Column, text: string): Expression<SqlBool> {
  return sql<SqlBool>`not starts_with(lower(${name}), ${text.toLowerCase()})`;
}
