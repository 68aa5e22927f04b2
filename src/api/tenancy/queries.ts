import { Flag } from '#api/pipeline/schemas.ts';
import type { ArchivedFilter } from '#domain/shared/archiving.ts';

/** The filter of lists that show either active or archived resources. */
export const archivedQuery = { archived: Flag.default('false').describe('Archived ones instead of active ones.') };

/** Converts the query of a list for the domain, which takes the flag as a boolean. */
export function withArchivedFilter<Query extends { readonly archived: 'true' | 'false' }>(
  query: Query,
): Omit<Query, 'archived'> & ArchivedFilter {
  return { ...query, archived: query.archived === 'true' };
}
