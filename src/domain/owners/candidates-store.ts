import { declaredTables } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import { decidePermission } from '#domain/shared/access/decide.ts';
import type { Permission } from '#domain/shared/access/permissions.ts';
import { type Candidate, type Candidates, noId, nothing } from '#domain/shared/naming/candidates.ts';
import { isOfReadableOwner } from './rows-store.ts';

type OwnerColumn = 'organizationId' | 'teamId' | 'projectId';

/** The tables whose rows have a name and such an owner. */
type OwnedTable = {
  [Name in keyof Tables]: 'name' | OwnerColumn extends keyof Tables[Name] ? Name : never;
}[keyof Tables];

interface OwnedKind {
  readonly table: OwnedTable;
  /** Who finds things of the whole installation. */
  readonly installation: 'visible' | 'administrators';
  /** The permissions of which a reader needs one; absent if everybody who may search has them. */
  readonly anyOf?: readonly Permission[];
}

/**
 * Candidates that belong to the installation, an organization, a team or a project, with the name of that owner. Those of deleted owners
 * are left out.
 */
export function ownedCandidates({ table, installation, anyOf }: OwnedKind): Candidates {
  return (em, principal) => {
    const mayRead = anyOf === undefined || decidePermission(principal, { anyOf }).allowed;
    return declaredTables(em)
      .selectFrom(`${table} as s`)
      .leftJoin('projects as p', 'p.id', 's.projectId')
      .leftJoin('teams as t', 't.id', 's.teamId')
      .leftJoin('organizations as o', 'o.id', 's.organizationId')
      .where((eb) => {
        const owner = {
          organization: eb.ref('s.organizationId'),
          team: eb.ref('s.teamId'),
          project: eb.ref('s.projectId'),
        };
        return eb.and([eb.lit(mayRead), isOfReadableOwner(principal, owner, installation)]);
      })
      .where('p.deletedAt', 'is', null)
      .where('t.deletedAt', 'is', null)
      .where('o.deletedAt', 'is', null)
      .select((eb) => [
        's.id',
        's.name',
        nothing.as('otherName'),
        eb.fn.coalesce('p.name', 't.name', 'o.name').as('context'),
        noId.as('parentId'),
      ])
      .$castTo<Candidate>()
      .as('x');
  };
}
