import type { Kysely } from 'kysely';
import type { Em } from '#database/database.ts';
import { findForChange, lockRows, toChange } from '#database/row-lock.ts';
import { db } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Archivable } from '#domain/shared/archiving.ts';
import { findTeamById, presentTeams } from '#domain/teams/store.ts';
import { archivedLevels } from '#domain/tenancy/store.ts';
import { Assembly } from './entity.ts';

/** An assembly with the team that owns it. */
export interface AssemblyTarget extends Ownership, Archivable {
  readonly organizationId: string;
  readonly teamId: string;
  readonly assembly: Assembly;
}

/** An assembly by its id; undefined if it or its owner is deleted. */
export function findAssembly(em: Em, id: string): Promise<AssemblyTarget | undefined> {
  return findAssemblyToChange(em, id, false);
}

/** `findAssembly` for a command that changes the assembly. With `lock` it locks the rows of the owner, then the assembly's own. */
export async function findAssemblyToChange(em: Em, id: string, lock: boolean): Promise<AssemblyTarget | undefined> {
  const known = await em.findOne(Assembly, { id, deletedAt: null });
  const team = known && (await findTeamById(em, known.teamId, lock));
  if (!known || !team) return undefined;
  if (!lock) return toTarget(team, known);
  const row = db(em).selectFrom('assemblies').where('id', '=', id).select('id');
  await lockRows(row, ['assemblies'], toChange(lock)).execute();
  const assembly = await findForChange(em, Assembly, { id, deletedAt: null });
  return assembly ? toTarget(team, assembly) : undefined;
}

function toTarget(
  { organizationId, teamId, archived }: Pick<AssemblyTarget, 'organizationId' | 'teamId' | 'archived'>,
  assembly: Assembly,
): AssemblyTarget {
  return { organizationId, teamId, archived: assembly.archivedAt ? [...archived, 'assembly'] : archived, assembly };
}

/** The owners of an assembly, in one query; undefined if the assembly or its owner is deleted. */
export function findAssemblyOwner(em: Em, id: string): Promise<Ownership | undefined> {
  return assembliesWithOwners(db(em))
    .where('a.id', '=', id)
    .where('a.deletedAt', 'is', null)
    .select(['t.id as teamId', 'o.id as organizationId'])
    .executeTakeFirst();
}

/** The owners of an assembly, and which of them (or the assembly itself) are archived. */
export interface AssemblyOwners extends Ownership, Archivable {
  readonly assemblyId: string;
  readonly organizationId: string;
  readonly teamId: string;
  /** Whether the assembly was deleted: then its runs can only be read. */
  readonly isDeleted: boolean;
}

/**
 * The owners of an assembly, deleted or not; undefined if an owner was deleted. `lock` takes share locks on all their rows until the
 * commit.
 */
export function findAssemblyOwners(em: Em, id: string, lock: boolean): Promise<AssemblyOwners | undefined> {
  const found = assembliesWithOwners(db(em))
    .where('a.id', '=', id)
    .select(['o.id as organizationId', 't.id as teamId', 'a.id as assemblyId'])
    .select((eb) => [
      eb('a.deletedAt', 'is not', null).$castTo<boolean>().as('isDeleted'),
      archivedLevels({
        organization: eb.ref('o.archivedAt'),
        team: eb.ref('t.archivedAt'),
        assembly: eb.ref('a.archivedAt'),
      }).as('archived'),
    ]);
  return lockRows(found, ['o', 't', 'a'], lock).executeTakeFirst();
}

/** Assemblies `a`, deleted or not, with team `t` and organization `o`, which are not deleted. */
function assembliesWithOwners(queries: Kysely<Tables>) {
  return presentTeams(queries).innerJoin('assemblies as a', 'a.teamId', 't.id');
}
