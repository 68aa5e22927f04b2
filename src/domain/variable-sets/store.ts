import { type Kysely, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { lockForChange } from '#database/row-lock.ts';
import type { RowOf } from '#database/tables.ts';
import { db } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import { findRowOwner, type OwnerIds, type RowOwner } from '#domain/owners/owner.ts';
import { isOfOwner, isOfReadableOwner } from '#domain/owners/rows-store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging/paging.ts';
import { isInForce } from '#domain/variables/attachment-force.ts';
import { VariableSet } from './entity.ts';

/** A variable set with its owner. */
export interface VariableSetTarget extends RowOwner {
  readonly set: VariableSet;
}

/** A set by its id; undefined if it or its owner is deleted. With `lock` it locks the rows of the owner, then its own. */
export async function findVariableSet(em: Em, id: string, lock = false): Promise<VariableSetTarget | undefined> {
  const known = await em.findOne(VariableSet, { id });
  const owner = known && (await findRowOwner(em, known, lock));
  const set = owner && lock ? await lockForChange(em, VariableSet, { id }) : known;
  return owner && set ? { ...owner, set } : undefined;
}

/** The facts about a set that lists contain. */
export type ListedVariableSet = RowOf<typeof selectSets>;

function selectSets(queries: Kysely<Tables>) {
  return queries
    .selectFrom('variable_sets as s')
    .select(['s.id', 's.name', 's.description', 's.revision', 's.createdAt'])
    .select(['s.organizationId', 's.teamId', 's.projectId'])
    .select((eb) => [
      eb
        .selectFrom('variable_set_variables as v')
        .whereRef('v.variableSetId', '=', 's.id')
        .select(sql<number>`count(*)::int`.as('count'))
        .$asScalar()
        .$notNull()
        .as('variables'),
      eb
        .selectFrom('variable_set_attachments as a')
        .whereRef('a.variableSetId', '=', 's.id')
        .select(sql<number>`count(*)::int`.as('count'))
        .$asScalar()
        .$notNull()
        .as('attachments'),
    ]);
}

export interface VariableSetFilter extends OwnerIds {
  /** Only sets that give variables to this environment because they are attached to it or to its project. */
  readonly givenTo?: string | undefined;
}

/** A page of the sets that a principal may read. */
export function listVariableSets(
  em: Em,
  principal: Principal,
  { givenTo, ...owner }: VariableSetFilter,
  request: PageRequest,
): Promise<Page<ListedVariableSet>> {
  const listed = selectSets(db(em))
    .where((eb) => {
      const refs = {
        organization: eb.ref('s.organizationId'),
        team: eb.ref('s.teamId'),
        project: eb.ref('s.projectId'),
      };
      return eb.and([isOfReadableOwner(principal, refs, 'visible'), isOfOwner(owner, refs)]);
    })
    .$if(givenTo !== undefined, (query) =>
      query.where((eb) =>
        eb.exists(
          eb
            .selectFrom('variable_set_attachments as a')
            .innerJoin('environments as e', (join) =>
              join.on((of) =>
                of.or([of('a.environmentId', '=', of.ref('e.id')), of('a.projectId', '=', of.ref('e.projectId'))]),
              ),
            )
            .innerJoin('projects as p', 'p.id', 'e.projectId')
            .innerJoin('teams as t', 't.id', 'p.teamId')
            .where(isInForce)
            .whereRef('a.variableSetId', '=', 's.id')
            .where('e.id', '=', givenTo ?? '')
            .select('a.id'),
        ),
      ),
    );
  return pageOf(listed, 's.id', request);
}

/** The facts about a set that lists contain. */
export function readVariableSet(em: Em, id: string): Promise<ListedVariableSet | undefined> {
  return selectSets(db(em)).where('s.id', '=', id).executeTakeFirst();
}

/** Raises the revision of a set whose attachments changed. The caller has locked the row. */
export async function countChange(em: Em, set: VariableSet): Promise<void> {
  set.revision += 1;
  await em.flush();
}
