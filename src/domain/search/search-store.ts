import { type AliasedExpression, type Expression, type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { featureOfKind } from '#domain/features.ts';
import { readGates } from '#domain/settings/store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import { describeClosed } from '#domain/shared/features/gates.ts';
import { isId } from '#domain/shared/ids.ts';
import { type Candidate, type Candidates, candidatesByKind, type NamedKind } from './candidates-store.ts';
import { hasText, type NameMatch } from './name-match.ts';

/** What a search finds, in the order in which results are shown. */
export const searchedKinds = ['run', ...(Object.keys(candidatesByKind) as NamedKind[])] as const;
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

export interface Found {
  readonly results: readonly SearchResult[];
  /** The kinds of which there are more than these results. */
  readonly cut: readonly SearchedKind[];
}

/** How many results of each kind a search has at most. One more is looked for, to know whether there are more. */
const mostOfAKind = 10;

/**
 * Finds what the principal may read: a run by its id or its idempotency key, and everything else by its id, or by a text in its name, its short
 * name or its key, in any case. The first or the last six or more digits of an id find it, too. Archived things and deleted runs, which keep their record, are found; other deleted things are not. Names that begin with the text come first.
 */
export async function search(em: Em, principal: Principal, text: string): Promise<Found> {
  const closed = await readGates(em);
  const results = await findRuns(em, principal, text);
  const cut: SearchedKind[] = [];
  // One after the other: a search takes one connection, however many kinds there are.
  for (const [kind, candidates] of Object.entries(candidatesByKind) as [NamedKind, Candidates][]) {
    // What an area that is turned off has is not found.
    const feature = featureOfKind(kind);
    if (feature && describeClosed(feature, closed) !== null) continue;
    const rows = await selectNamed(em, candidates(em, principal), text);
    for (const row of rows.slice(0, mostOfAKind)) results.push({ kind, ...row });
    if (rows.length > mostOfAKind) cut.push(kind);
  }
  return { results, cut };
}

/** Those of a kind that a principal may read and whose id, name, short name or key is this text, or has it in it, in any case; at most so many. */
export function findCalled(
  em: Em,
  principal: Principal,
  {
    kind,
    text,
    match,
    most,
  }: { readonly kind: NamedKind; readonly text: string; readonly match: NameMatch; readonly most: number },
): Promise<Candidate[]> {
  const candidates: Candidates = candidatesByKind[kind];
  return db(em)
    .selectFrom(candidates(em, principal))
    .where((eb) => isNamed(eb.ref('x.id'), [eb.ref('x.name'), eb.ref('x.otherName')], { text, match }))
    .selectAll()
    .orderBy('x.name')
    .orderBy('x.id')
    .limit(most)
    .execute();
}

/** Runs by their whole id, their idempotency key, or a piece of the id as pages show it: the newest first. */
async function findRuns(em: Em, principal: Principal, text: string): Promise<SearchResult[]> {
  const id = text.toLowerCase();
  const piece = pieceOfId(text);
  if (!isId(id) && piece === null) return [];
  const rows = await db(em)
    .selectFrom('runs')
    .innerJoin('instances as i', 'i.id', 'runs.instance_id')
    .where((eb) =>
      piece === null
        ? eb.or([eb('runs.id', '=', id), eb('runs.idempotency_key', '=', id)])
        : hasPiece(eb.ref('runs.id'), piece),
    )
    .where((eb) => isInReadableTeam(principal, eb.ref('runs.team_id'), 'visible'))
    .select(['runs.id', 'i.name', 'runs.status as context'])
    .orderBy('runs.id', 'desc')
    .limit(mostOfAKind)
    .execute();
  return rows.map((row) => ({ kind: 'run', ...row, organizationId: null }));
}

/** Searches candidates of one kind. PostgreSQL merges the two queries, so the indexes of the candidates' tables serve. */
function selectNamed(em: Em, candidates: AliasedExpression<Candidate, 'x'>, text: string) {
  return db(em)
    .selectFrom(candidates)
    .where((eb) => isNamed(eb.ref('x.id'), [eb.ref('x.name'), eb.ref('x.otherName')], { text, match: 'part' }))
    .select(['x.id', 'x.name', 'x.context', 'x.organizationId'])
    .orderBy((eb) => rank(eb.ref('x.name'), text))
    .orderBy('x.name')
    .limit(mostOfAKind + 1)
    .execute();
}

type Column = Expression<string> | Expression<string | null>;

function isNamed(
  id: Column,
  names: readonly Column[],
  { text, match }: { readonly text: string; readonly match: NameMatch },
): Expression<SqlBool> {
  const wanted = text.toLowerCase();
  if (isId(wanted)) return sql<SqlBool>`${id} = ${wanted}::uuid`;
  const matches = names.map((name) => hasText(name, wanted, match));
  const piece = match === 'part' ? pieceOfId(text) : null;
  if (piece !== null) matches.push(hasPiece(id, piece));
  return sql<SqlBool>`(${sql.join(matches, sql` or `)})`;
}

/** The piece of an id that a text is, such as the last digits after "…" by which pages name a run; null if it is none. */
function pieceOfId(text: string): string | null {
  const [, piece] = /(?:^|…)([0-9a-f-]{6,35})$/.exec(text.trim().toLowerCase()) ?? [];
  return piece ?? null;
}

/** The condition that an id begins or ends with a piece. */
function hasPiece(id: Column, piece: string): Expression<SqlBool> {
  return sql<SqlBool>`(starts_with(${id}::text, ${piece}) or right(${id}::text, ${piece.length}::int) = ${piece})`;
}

/** Names that begin with the text come before names that contain it. */
function rank(name: Column, text: string): Expression<SqlBool> {
  return sql<SqlBool>`not starts_with(lower(${name}), ${text.toLowerCase()})`;
}
