import { type Expression, expressionBuilder, type SqlBool, sql } from 'kysely';
import type { Tables } from '#domain/entities.ts';
import { readableTeams } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';

/** A text that a row has, and the team that owns the row, as an index of migration 20261220_20 has them. */
interface IndexedText {
  readonly text: Expression<string>;
  readonly team: Expression<string | null>;
}

/**
 * How many rows that have the words are looked at. Frequent words are in more, of which any are taken: looking for the text in all of them, or for the
 * newest, would cost a second at 100,000.
 */
export const maxWithWords = 10_000;

/** PostgreSQL uses an index only for the very same expression. */
const wordsOf = (text: Expression<unknown>) => sql<string>`regexp_replace(lower(${text}), '[^[:alnum:]]+', ' ', 'g')`;

/**
 * The condition that a row of the principal's teams, or of none, has the words of a text, the last one from its beginning on, in any case. Words and teams are looked up in
 * one index, so that rows of other teams cost nothing. What may be read is up to another condition: this one only narrows the search.
 */
export function hasWords(principal: Principal, row: IndexedText, searched: string): Expression<SqlBool> {
  const text = sql<string>`${searched}::text`;
  // Only words are left of the text, and none of them is syntax. Without any, the query is null and finds nothing. The last one may go on.
  const words = sql`to_tsquery('simple', replace(nullif(trim(${wordsOf(text)}), ''), ' ', ' & ') || ':*')`;
  // No word of a text looks like an id, which has hyphens.
  const indexed = sql`(to_tsvector('simple', ${wordsOf(row.text)}) || array_to_tsvector(array[coalesce(${row.team}::text, '-')]))`;
  return sql<SqlBool>`${indexed} @@ (${words} ${ofReadableTeams(principal)})`;
}

/** The condition that a text has another one in it, in any case. It is for the rows that were found by their words. */
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
