import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';

/** Ids of things that have names, by their kind. */
export interface NamedIds {
  readonly organizations?: readonly (string | null)[];
  readonly teams?: readonly (string | null)[];
  readonly projects?: readonly (string | null)[];
  readonly environments?: readonly (string | null)[];
  readonly templates?: readonly (string | null)[];
  readonly assemblies?: readonly (string | null)[];
  readonly principals?: readonly (string | null)[];
}

/** What a page calls a thing. */
export interface Named {
  readonly id: string;
  readonly name: string;
  /** The organization of a team; null for every other kind. */
  readonly organizationId: string | null;
}

export type Names = ReadonlyMap<string, Named>;

const none = '00000000-0000-0000-0000-000000000000';

/**
 * Reads the names of things by their ids, also of deleted ones. It does not decide who may know them: pass only ids that the
 * caller was shown by an operation, or that name the caller's own memberships.
 */
export async function readNames(em: Em, ids: NamedIds): Promise<Names> {
  const queries = db(em);
  const named = (given: readonly (string | null)[] = []) => {
    const present = [...new Set(given.filter((id) => id !== null))];
    return present.length > 0 ? present : [none];
  };
  const rows = await queries
    .selectFrom('organizations')
    .where('id', 'in', named(ids.organizations))
    .select((eb) => ['id', 'name', eb.cast<string | null>(eb.val(null), 'uuid').as('organizationId')])
    .unionAll(
      queries
        .selectFrom('teams')
        .where('id', 'in', named(ids.teams))
        .select(['id', 'name', 'organization_id as organizationId']),
    )
    .unionAll(
      queries
        .selectFrom('projects')
        .where('id', 'in', named(ids.projects))
        .select((eb) => ['id', 'name', eb.cast<string | null>(eb.val(null), 'uuid').as('organizationId')]),
    )
    .unionAll(
      queries
        .selectFrom('environments')
        .where('id', 'in', named(ids.environments))
        .select((eb) => ['id', 'name', eb.cast<string | null>(eb.val(null), 'uuid').as('organizationId')]),
    )
    .unionAll(
      queries
        .selectFrom('templates')
        .where('id', 'in', named(ids.templates))
        .select((eb) => ['id', 'name', eb.cast<string | null>(eb.val(null), 'uuid').as('organizationId')]),
    )
    .unionAll(
      queries
        .selectFrom('assemblies')
        .where('id', 'in', named(ids.assemblies))
        .select((eb) => ['id', 'name', eb.cast<string | null>(eb.val(null), 'uuid').as('organizationId')]),
    )
    .unionAll(
      queries
        .selectFrom('principals')
        .where('id', 'in', named(ids.principals))
        .select((eb) => ['id', 'name', eb.cast<string | null>(eb.val(null), 'uuid').as('organizationId')]),
    )
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}
