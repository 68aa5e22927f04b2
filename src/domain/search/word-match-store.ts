import { type Expression, expressionBuilder, type SqlBool, sql } from 'kysely';
import type { Tables } from '#domain/entities.ts';
import { readableTeams } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';

/** A text of a row, and the team that owns the row, in the form of the index of migration 20261220_20. */
interface IndexedText {
  readonly text: Expression<string>;
  readonly team: Expression<string | null>;
}

/**
 * The maximum number of rows with the words that are examined. For frequent words, arbitrary rows are taken: searching all of them, or the
 * newest, would take a second for 100,000 rows.
 */
export const maxWithWords = 10_000;

/** This expression must be identical to that of the index, or PostgreSQL does not use the index. */
const wordsOf = (text: Expression<unknown>) => sql<string>`regexp_replace(lower(${text}), '[^[:alnum:]]+', ' ', 'g')`;

/**
 * The condition that a row of the principal's teams, or of no team, has the words of a text, ignoring case; the last word may be only the
 * beginning of one. Words and teams are looked up in one index, so that rows of other teams cost nothing. It only narrows the search:
 * another condition decides what may be read.
 */
export function hasWords(principal: Principal, row: IndexedText, searched: string): Expression<SqlBool> {
  const text = sql<string>`${searched}::text`;
  // Only words remain of the text, so it cannot contain query syntax. Without any word, the query is null and finds nothing. `:*` lets the
  // last word be a prefix.
  const words = sql`to_tsquery('simple', replace(nullif(trim(${wordsOf(text)}), ''), ' ', ' & ') || ':*')`;
  // A word of the text cannot equal a team's id, because ids have hyphens.
  const indexed = sql`(to_tsvector('simple', ${wordsOf(row.text)}) || array_to_tsvector(array[coalesce(${row.team}::text, '-')]))`;
  return sql<SqlBool>`${indexed} @@ (${words} ${ofReadableTeams(principal)})`;
}

/** The condition that a text contains another one, ignoring case. Use it for the rows that were found by their words. */
export function containsText(text: Expression<string>, searched: string): Expression<SqlBool> {
  return sql<SqlBool>`position(lower(${searched}::text) in lower(${text})) > 0`;
}

function ofReadableTeams(principal: Principal): Expression<unknown> {
  const readable = readableTeams(principal);
  if (readable === 'all') return sql``;
  const teams = expressionBuilder<Tables>()
    .selectFrom('teams')
    .where((eb) =>
      eb.or([
        eb('teams.id', '=', eb.fn.any(eb.val(readable.teams))),
        eb('teams.organizationId', '=', eb.fn.any(eb.val(readable.organizations))),
      ]),
    )
    .select(sql<string>`string_agg(quote_literal(teams.id::text), ' | ')`.as('ids'));
  return sql`&& concat_ws(' | ', '''-''', (${teams}))::tsquery`;
}
