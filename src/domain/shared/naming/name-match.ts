import { type Expression, type SqlBool, sql } from 'kysely';
import { isId } from '../ids.ts';

type Column = Expression<string> | Expression<string | null>;

/** Whether a text must be a whole name, or may be a part of one. */
export type NameMatch = 'whole' | 'part';

/** The condition that a name equals or contains a text, ignoring case. @param wanted in lower case */
export function hasText(name: Column, wanted: string, match: NameMatch): Expression<SqlBool> {
  return match === 'whole'
    ? sql<SqlBool>`lower(${name}) = ${wanted}`
    : sql<SqlBool>`position(${wanted} in lower(${name})) > 0`;
}

/**
 * The condition that a thing has a text as its id or in one of its names, ignoring case. If a part of a name suffices, the part of an id
 * that pages show suffices as well.
 */
export function isNamed(
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

/**
 * Returns the part of an id that a text consists of, such as the last digits after "…" by which pages name a run; null if the text is not
 * such a part.
 */
export function pieceOfId(text: string): string | null {
  const [, piece] = /(?:^|…)((?:-*[0-9a-f]){6}[0-9a-f-]{0,29})$/.exec(text.trim().toLowerCase()) ?? [];
  return piece ?? null;
}

/** The condition that an id begins or ends with a piece. */
export function hasPiece(id: Column, piece: string): Expression<SqlBool> {
  return sql<SqlBool>`(starts_with(${id}::text, ${piece}) or right(${id}::text, ${piece.length}::int) = ${piece})`;
}
