import { type Expression, type SqlBool, sql } from 'kysely';

/**
 * The owner chain of a place is a text: the ids of its owners and its own, outermost first, each followed by its eligibility generation.
 * Generations only grow, so a place never gets an earlier owner chain again. Only this file knows its format.
 */

/** The owner chain of a place, of a statement that has its owners as `o` `t` `p` `e` `r`; null if there is no such place. */
export const ownerChain = sql<
  string | null
>`case when o.id is not null then concat_ws(' ', o.id, o.eligibility_generation, t.id,
  t.eligibility_generation, p.id, p.eligibility_generation, e.id, e.eligibility_generation, r.id, r.eligibility_generation) end`;

/** Whether a place is the same as another one, or is inside it with the same owners. */
export function isWithin(inner: Expression<string | null>, outer: Expression<string>) {
  return sql<SqlBool>`starts_with(concat(${inner}, ' '), concat(${outer}, ' '))`;
}

/** Whether two owner chains name the same place with the same owners, ignoring generations. */
export function hasSameOwners(one: string, other: string): boolean {
  return idsOf(one) === idsOf(other);
}

function idsOf(chain: string): string {
  return chain
    .split(' ')
    .filter((_, index) => index % 2 === 0)
    .join(' ');
}
