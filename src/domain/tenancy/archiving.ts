import { z } from 'zod';
import { Conflict } from '#domain/shared/errors.ts';
import type { TenantLevel } from './model.ts';

/** A thing with the levels of its owners and itself that are archived, outermost first. */
export interface Archivable {
  readonly archived: readonly TenantLevel[];
}

/**
 * Something archived stays as it was: it takes neither changes nor anything new inside it.
 * @throws Conflict that names the outermost level that is archived
 */
export function refuseArchived({ archived }: Archivable): void {
  const [level] = archived;
  if (level) throw new Conflict(`the ${level} is archived: unarchive it first`);
}

/** The filter of lists, which show either what is active or what is archived. */
export const archivedQuery = {
  archived: z.enum(['true', 'false']).default('false').describe('Archived ones instead of active ones.'),
};

export interface ArchivedFilter {
  readonly archived: 'true' | 'false';
}
