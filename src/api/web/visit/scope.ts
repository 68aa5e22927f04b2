import { isId } from '#domain/shared/ids.ts';
import type { Query } from '../paths.ts';

/** What the lists of a page are limited to: a team, an organization, or neither. */
export interface Scope {
  readonly organizationId: string | undefined;
  readonly teamId: string | undefined;
}

/** Reads the scope from the address. The address alone decides it, so that a link shows the same to everybody. */
export function readScope(query: (name: string) => string | undefined): Scope {
  return { organizationId: keepId(query('organization_id')), teamId: keepId(query('team_id')) };
}

function keepId(text: string | undefined): string | undefined {
  return text !== undefined && isId(text) ? text : undefined;
}

/** The scope as a query of a page or of an operation that lists. */
export function scopeQuery({ organizationId, teamId }: Scope): Query {
  if (teamId !== undefined) return { team_id: teamId };
  return organizationId === undefined ? {} : { organization_id: organizationId };
}
