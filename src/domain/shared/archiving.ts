import type { ArchivableKind } from '#domain/ownership.ts';
import { type Refusal, throwIfRefused } from './actions.ts';

/** The levels of the tenancy, outermost first: each owns things of the next one. */
export type TenantLevel = 'organization' | 'team' | 'project' | 'environment';

/** The kinds that areas declare as archivable. Archiving a thing archives everything that it owns. */
export type ArchivableLevel = ArchivableKind;

/** A thing with the levels of its owners and itself that are archived, outermost first. */
export interface Archivable {
  readonly archived: readonly ArchivableLevel[];
}

/**
 * The refusal of a change of something archived; null if all levels are active. An archived thing cannot be changed, nothing can be created
 * in it, and no run starts in it. The refusal names the outermost archived level.
 */
export function findArchivedRefusal({ archived: [level] }: Archivable): Refusal | null {
  return level ? { code: 'archived', message: `the ${level} is archived: unarchive it first` } : null;
}

/** The refusal to unarchive a thing while one of its owners is archived; null if it is allowed. @param level its own level */
export function findUnarchivingRefusal(level: string, { archived }: Archivable): Refusal | null {
  return findArchivedRefusal({ archived: archived.filter((each) => each !== level) });
}

/** @throws ActionRefused (a Conflict) if a level is archived */
export function refuseArchived(archivable: Archivable): void {
  throwIfRefused(findArchivedRefusal(archivable));
}

/** Lists show active things (false) or archived ones (true). */
export interface ArchivedFilter {
  readonly archived: boolean;
}
