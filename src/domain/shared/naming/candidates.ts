import { type AliasedExpression, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { decidePermission } from '../access/decide.ts';
import type { Permission } from '../access/permissions.ts';
import type { Principal } from '../access/principal.ts';

/** A thing that a search by name can find. */
export interface Candidate {
  readonly id: string;
  readonly name: string;
  /** Another text by which it is found, such as its slug. */
  readonly otherName: string | null;
  readonly context: string | null;
  /** The organization of a team, which is part of its address; null for other kinds. */
  readonly parentId: string | null;
}

/** The things of one kind that the principal may read. Deleted things are left out. */
export type Candidates = (em: Em, principal: Principal) => AliasedExpression<Candidate, 'x'>;

/** The other name or the context of kinds that have none. */
export const nothing = sql<string | null>`null::text`;
/** The `parentId` of kinds that have none. */
export const noId = sql<string | null>`null::uuid`;

/** Whether the principal has a permission, for the condition of a statement. */
export function mayRead(principal: Principal, permission: Permission) {
  return sql.lit(decidePermission(principal, { anyOf: [permission] }).allowed);
}
