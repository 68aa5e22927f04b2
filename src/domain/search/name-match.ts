import { type Expression, type SqlBool, sql } from 'kysely';

/** Whether a text must be a whole name, or may be a part of one. */
export type NameMatch = 'whole' | 'part';

/** The condition that a name is a text or has it in it, in any case. @param wanted in lower case */
export function hasText(
  name: Expression<string> | Expression<string | null>,
  wanted: string,
  match: NameMatch,
): Expression<SqlBool> {
  return match === 'whole'
    ? sql<SqlBool>`lower(${name}) = ${wanted}`
    : sql<SqlBool>`position(${wanted} in lower(${name})) > 0`;
}
