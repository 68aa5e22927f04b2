import type { ArchivableKind } from '#domain/ownership.ts';
import { type Refusal, throwIfRefused } from './actions.ts';

/** The levels of the tenancy, outermost first: each owns things of the next one. */
export type TenantLevel = 'organization' | 'team' | 'project' | 'environment';

/** What can be archived, with everything that it owns: the kinds that areas declare as such. */
export type ArchivableLevel = ArchivableKind;

/** A thing with the levels of its owners and itself that are archived, outermost first. */
export interface Archivable {
  readonly archived: readonly ArchivableLevel[];
}

/**
 * Something archived stays as it was: it takes neither changes nor anything new inside it, and no run starts in it. The refusal
 * names the outermost level that is archived; null if all are active.
 */
export function findArchivedRefusal({ archived: [level] }: Archivable): Refusal | null {
  return level ? { code: 'archived', message: `the ${level} is archived: unarchive it first` } : null;
}

/** Something is taken out of the archive only while all its owners are active. @param level its own level */
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
