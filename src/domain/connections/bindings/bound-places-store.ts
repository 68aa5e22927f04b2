import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';

/** A project or an environment that binds a connection. */
export interface BoundPlace {
  readonly id: string;
  readonly kind: 'project' | 'environment';
  readonly name: string;
  /** The name of the project, which an environment is in or which the place is. */
  readonly project: string;
}

export interface BoundPlaces {
  /** Some of the places that the principal may read. */
  readonly places: readonly BoundPlace[];
  /** The number of places that the principal may read. */
  readonly readable: number;
  /** The number of other places. */
  readonly unreadable: number;
}

/** The places that bind a connection: at most `max` of those that a principal may read, and the numbers of all. */
export async function findBoundPlaces(
  em: Em,
  principal: Principal,
  { connectionId, max }: { readonly connectionId: string; readonly max: number },
): Promise<BoundPlaces> {
  const all = selectPlaces(em, principal, connectionId).as('x');
  const places = await db(em)
    .selectFrom(all)
    .where('x.isReadable', '=', true)
    .select(['x.id', 'x.kind', 'x.name', 'x.project'])
    .orderBy('x.project')
    .orderBy('x.kind', 'desc')
    .orderBy('x.name')
    .orderBy('x.id')
    .limit(max)
    .execute();
  const { readable, total } = await db(em)
    .selectFrom(all)
    .select((eb) => eb.fn.countAll<string>().filterWhere('x.isReadable', '=', true).as('readable'))
    .select((eb) => eb.fn.countAll<string>().as('total'))
    .executeTakeFirstOrThrow();
  return { places, readable: Number(readable), unreadable: Number(total) - Number(readable) };
}

/** Selects each place once, even if it binds the connection under several names. */
function selectPlaces(em: Em, principal: Principal, connectionId: string) {
  return db(em)
    .selectFrom('connection_bindings as b')
    .leftJoin('environments as e', 'e.id', 'b.environmentId')
    .innerJoin('projects as p', (join) =>
      join.on((eb) => eb('p.id', '=', eb.fn.coalesce('b.projectId', 'e.projectId'))),
    )
    .where('b.connectionId', '=', connectionId)
    .where('p.deletedAt', 'is', null)
    .where('e.deletedAt', 'is', null)
    .select((eb) => [eb.fn.coalesce('e.id', 'p.id').as('id'), eb.fn.coalesce('e.name', 'p.name').as('name')])
    .select(sql<BoundPlace['kind']>`case when e.id is null then 'project' else 'environment' end`.as('kind'))
    .select('p.name as project')
    .select((eb) => sql<boolean>`${isInReadableTeam(principal, eb.ref('p.teamId'), 'hidden')}`.as('isReadable'))
    .distinct();
}
