import { z } from 'zod';
import { Conflict } from '#domain/shared/errors.ts';
import { type TenantLevel, tenantLevels } from './model.ts';

/** A thing with the levels of its owners and itself that are archived, outermost first. */
export interface Archivable {
  readonly archived: readonly TenantLevel[];
}

const aliasOf: Record<TenantLevel, string> = { organization: 'o', team: 't', project: 'p', environment: 'e' };

/** The tables of a level and its owners, as `o`, `t`, `p`, `e`; what is deleted, or whose owner is, is not there. */
export function tenancy(level: TenantLevel): { aliases: string[]; archived: string; present: string } {
  const levels = tenantLevels.slice(0, tenantLevels.indexOf(level) + 1);
  const cases = levels.map((each) => `case when ${aliasOf[each]}.archived_at is not null then '${each}' end`);
  return {
    aliases: levels.map((each) => aliasOf[each]),
    archived: `array_remove(array[${cases.join(', ')}]::text[], null) as archived`,
    present: levels.map((each) => `${aliasOf[each]}.deleted_at is null`).join(' and '),
  };
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
