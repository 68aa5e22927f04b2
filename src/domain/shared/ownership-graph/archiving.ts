import type { Em } from '#database/database.ts';
import type { Kind } from '#domain/ownership.ts';
import { throwIfRefused } from '#domain/shared/actions.ts';
import { type Archivable, findUnarchivingRefusal } from '#domain/shared/archiving.ts';
import { refuseArchiving } from './blockers.ts';
import { changeOne, clock } from './conditions.ts';
import { declarationOf } from './graph.ts';

/** A thing to be archived or unarchived. */
interface ToArchive extends Archivable {
  readonly id: string;
  readonly archivedAt: string | Date | null;
}

/**
 * Archives a thing that is not in use, which voids all earlier grants. False if it was archived already. The caller has locked the row, so
 * that nothing can start in it before the commit.
 * @throws Conflict naming the instances that still hold resources, or the runs that have not ended
 */
export async function archive(em: Em, kind: Kind, { id, archivedAt }: ToArchive): Promise<boolean> {
  if (archivedAt !== null) return false;
  await refuseArchiving(em, kind, id);
  await changeOne(em, archivableOf(kind), id, { archivedAt: clock });
  return true;
}

/** Unarchives a thing; false if it was not archived. @throws Conflict while an owner of it is archived */
export async function unarchive(em: Em, kind: Kind, { id, archived, archivedAt }: ToArchive): Promise<boolean> {
  if (archivedAt === null) return false;
  throwIfRefused(findUnarchivingRefusal(kind, { archived }));
  const { generation: _, ...declaration } = archivableOf(kind);
  await changeOne(em, declaration, id, { archivedAt: null });
  return true;
}

function archivableOf(kind: Kind) {
  const declaration = declarationOf(kind);
  if (!declaration.archivable) throw new Error(`the kind "${kind}" does not declare that it can be archived`);
  return declaration;
}
