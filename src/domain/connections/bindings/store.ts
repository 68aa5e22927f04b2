import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { lockRows } from '#database/row-lock.ts';
import { db } from '#domain/db.ts';
import { coversOwner } from '#domain/owners/rows-store.ts';
import { newId } from '#domain/shared/ids.ts';
import { type VariablePhase, variablePhases } from '#domain/variables/model.ts';
import { ConnectionBinding } from './entity.ts';
import type { WantedBinding } from './model.ts';

/** A project or an environment, with the owners whose connections it may use. */
export interface BindingPlace {
  readonly organizationId: string;
  readonly teamId: string;
  readonly projectId: string;
  /** Null: the place is the project itself. */
  readonly environmentId: string | null;
}

/** The bindings `b` of connections `c` at a place, and whether the connection's owner is above the place now. */
function selectBindings(em: Em, place: BindingPlace) {
  return db(em)
    .selectFrom('connection_bindings as b')
    .innerJoin('connections as c', 'c.id', 'b.connectionId')
    .leftJoin('principals as p', 'p.id', 'b.boundBy')
    .leftJoin('team_members as m', (join) =>
      join.onRef('m.principalId', '=', 'b.boundBy').on('m.teamId', '=', place.teamId),
    )
    .select(['b.id', 'b.name', 'b.inPlan', 'b.inApply', 'b.boundAt'])
    .select(['b.environmentId', 'b.boundBy', 'p.name as boundByName'])
    .select((eb) => [
      eb.fn.coalesce('p.kind', eb.val('user')).as('boundByKind'),
      eb('p.eligibilityGeneration', 'is not distinct from', eb.ref('b.boundByGeneration'))
        .$castTo<boolean>()
        .as('isOfGeneration'),
      eb.fn
        .coalesce(eb('m.id', '=', eb.ref('b.boundByMembership')), eb.lit(false))
        .$castTo<boolean>()
        .as('isOfMembership'),
      eb('m.id', 'is not distinct from', eb.ref('b.boundByMembership')).$castTo<boolean>().as('isAsWhenBound'),
      eb('b.voidSince', 'is not', null).$castTo<boolean>().as('isVoid'),
      eb
        .and([coversOwner(ownerOf(eb), place)])
        .$castTo<boolean>()
        .as('isCovered'),
    ])
    .select(['c.id as connectionId', 'c.name as connection', 'c.kind', 'c.provides']);
}

type Refs = Parameters<typeof coversOwner>[0];

function ownerOf(eb: { ref(column: 'c.organizationId' | 'c.teamId' | 'c.projectId'): Refs['team'] }): Refs {
  return { organization: eb.ref('c.organizationId'), team: eb.ref('c.teamId'), project: eb.ref('c.projectId') };
}

export type BindingRow = Awaited<ReturnType<typeof readBindings>>[number];

/** The bindings of one place, by name. */
export function readBindings(em: Em, place: BindingPlace) {
  const { environmentId, projectId } = place;
  return selectBindings(em, place)
    .where((eb) =>
      environmentId === null ? eb('b.projectId', '=', projectId) : eb('b.environmentId', '=', environmentId),
    )
    .orderBy('b.name')
    .execute();
}

/**
 * The bindings with these names that the runs of an environment get: its own, and those of its project. The seals of the connections are
 * included.
 */
export async function readEffectiveBindings(em: Em, place: BindingPlace, names: readonly string[], lock: boolean) {
  const found = selectEffective(em, place).where((eb) => eb('b.name', '=', eb.fn.any(eb.val(names))));
  return lockRows(found, ['c', 'b'], lock).execute();
}

/** All bindings that an environment and its project have, with the seals of the connections. */
export async function readAllEffectiveBindings(em: Em, place: BindingPlace, lock: boolean) {
  return lockRows(selectEffective(em, place), ['c', 'b'], lock).execute();
}

function selectEffective(em: Em, place: BindingPlace) {
  return selectBindings(em, place)
    .where((eb) => eb.or([eb('b.environmentId', '=', place.environmentId), eb('b.projectId', '=', place.projectId)]))
    .select(['c.config', 'c.credentialRevision'])
    .select(['c.sealedKey', 'c.sealedCredentials']);
}

export type EffectiveBinding = Awaited<ReturnType<typeof readEffectiveBindings>>[number];

export function phasesOf({ inPlan, inApply }: Pick<BindingRow, 'inPlan' | 'inApply'>): VariablePhase[] {
  return variablePhases.filter((phase) => (phase === 'plan' ? inPlan : inApply));
}

/** The tables of places that bind connections, outermost first, with the columns of bindings that name them. */
const placeTables = [
  { table: 'projects', column: 'projectId' },
  { table: 'environments', column: 'environmentId' },
] as const;

/** Locks the projects and environments that bind a connection, for a change. Take these locks before that of the connection. */
export async function lockPlacesOf(em: Em, connectionId: string): Promise<void> {
  for (const { table, column } of placeTables) {
    const places = db(em)
      .selectFrom(table)
      .where('id', 'in', selectBound(em, connectionId, column));
    await lockRows(places.orderBy('id').select('id'), [table], 'change').execute();
  }
}

/** Raises the revisions of the projects and environments that bind a connection, because they lose the binding. */
export async function revisePlacesOf(em: Em, connectionId: string): Promise<void> {
  for (const { table, column } of placeTables)
    await db(em)
      .updateTable(table)
      .set({ revision: sql<number>`revision + 1` })
      .where('id', 'in', selectBound(em, connectionId, column))
      .execute();
}

function selectBound(em: Em, connectionId: string, column: (typeof placeTables)[number]['column']) {
  return db(em).selectFrom('connection_bindings').where('connectionId', '=', connectionId).select(column);
}

/** Which of these connections a place may use. It takes share locks on their rows until the commit. */
export async function findUsableIds(em: Em, place: BindingPlace, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const query = db(em)
    .selectFrom('connections as c')
    .where((eb) => eb('c.id', '=', eb.fn.any(eb.val([...ids]))))
    .where((eb) => coversOwner(ownerOf(eb), place))
    .select('c.id')
    .orderBy('c.id');
  const found = await lockRows(query, ['c'], true).execute();
  return new Set(found.map(({ id }) => id));
}

/** Replaces the bindings of a place; one principal binds all of them. The caller has locked the row of the place. */
export async function writeBindings(
  em: Em,
  { environmentId, projectId, teamId }: BindingPlace,
  wanted: Readonly<Record<string, WantedBinding>>,
  boundBy: string,
): Promise<void> {
  const place = environmentId === null ? { projectId, environmentId: null } : { projectId: null, environmentId };
  await db(em)
    .deleteFrom('connection_bindings')
    .where(environmentId === null ? 'projectId' : 'environmentId', '=', environmentId ?? projectId)
    .execute();
  const { generation, membership } = await db(em)
    .selectFrom('principals as p')
    .leftJoin('team_members as m', (join) => join.onRef('m.principalId', '=', 'p.id').on('m.teamId', '=', teamId))
    .where('p.id', '=', boundBy)
    .select(['p.eligibilityGeneration as generation', 'm.id as membership'])
    .executeTakeFirstOrThrow();
  const common = {
    ...place,
    boundBy,
    boundByGeneration: generation,
    boundByMembership: membership,
    boundAt: new Date(),
  };
  for (const [name, { connectionId, phases }] of Object.entries(wanted)) {
    const inPhases = { inPlan: phases.includes('plan'), inApply: phases.includes('apply') };
    em.persist(em.create(ConnectionBinding, { id: newId(), ...common, name, connectionId, ...inPhases }));
  }
  await em.flush();
}
