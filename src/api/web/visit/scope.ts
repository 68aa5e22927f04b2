import { Invalid } from '#domain/shared/errors.ts';
import { isId } from '#domain/shared/ids.ts';
import type { Query } from '../paths.ts';

/** The limit on the lists of a page: a team, an organization, or none. */
export interface Scope {
  readonly organizationId: string | undefined;
  readonly teamId: string | undefined;
}

/**
 * Reads the scope from the address. Nothing else determines it, so that a link shows the same to everybody.
 * @throws Invalid for a malformed id, because a page must not show more than its address selects
 */
export function readScope(query: (name: string) => string | undefined): Scope {
  const read = (name: string, level: string) => {
    const id = query(name);
    if (id === undefined || isId(id)) return id;
    throw new Invalid(`${name}: the address selects no ${level} by its id; choose one in the menu at the top`);
  };
  return { organizationId: read('organization_id', 'organization'), teamId: read('team_id', 'team') };
}

/** The scope as a query of a page or of an operation that lists. */
export function scopeQuery({ organizationId, teamId }: Scope): Query {
  if (teamId !== undefined) return { team_id: teamId };
  return organizationId === undefined ? {} : { organization_id: organizationId };
}
