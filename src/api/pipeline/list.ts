import type { z } from 'zod';
import type { Em } from '#database/database.ts';
import type { Access, Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { Invalid } from '#domain/shared/errors.ts';
import {
  type Contradiction,
  findListOwner,
  type ListOwner,
  type OwnerFilters,
} from '#domain/shared/ownership-graph/list-owners.ts';
import type { AnswerOf, Responses, Schema } from './answers/answer-types.ts';
import { type OwnerParameters, type ReadDeclaration, type ReadOperation, read } from './operation.ts';

type ParameterOf<Q extends Schema> = keyof z.output<Q> & string;

type ReadOfOwner<Q extends Schema, S extends Responses> = ReadDeclaration<undefined, Q, ListOwner, undefined, S>;

interface ListDeclaration<Q extends Schema, S extends Responses>
  extends Omit<ReadOfOwner<Q, S>, 'access' | 'accessTo' | 'target' | 'targetName' | 'owners'> {
  readonly query: Q;
  readonly owners: OwnerParameters<ParameterOf<Q>>;
  readonly access: Access;
  /** The access that the caller needs to each owner that the filters name. By default, `accessToOwner` returns it. */
  readonly accessTo?: (owner: Ownership, principal: Principal) => Access;
  /** Finds the owners that the filters name, for lists that also contain resources whose owner has changed or was deleted. */
  readonly findOwner?: (em: Em, filters: OwnerFilters) => Promise<ListOwner | undefined>;
}

const refusal = 'Parameters that name different owners are refused.';

/**
 * Declares a list that can be filtered by the owners of its items. Its caller needs access to every owner that the filters name. Only a
 * caller with this access learns that no item can belong to all of these owners.
 */
export function readList<Q extends Schema, S extends Responses>({
  findOwner = findListOwner,
  ...declaration
}: ListDeclaration<Q, S>): ReadOperation<S, undefined, AnswerOf<S>> {
  const { owners, access, description, handle } = declaration;
  return read<undefined, Q, ListOwner, undefined, S>({
    accessTo: (owner) => accessToOwner(access, owner),
    ...declaration,
    description: Object.keys(owners).length > 1 ? [description ?? [], refusal].flat().join(' ') : description,
    target: ({ em, query }) => findOwner(em, filtersOf(owners, query)),
    targetName: describeOwners(owners),
    handle: async (call) => {
      if (call.target.contradiction) throw contradictionOf(owners, call.target.contradiction);
      return handle(call);
    },
  });
}

/**
 * The access to an owner that a filter names. A principal that may read a team may list what it owns. A member of an organization may list
 * what its teams own: the list holds only what belongs to teams that the member may read.
 */
function accessToOwner(access: Access, { organizationId, teamId }: Ownership): Access {
  const { teamAction = 'team.metadata.read', ...ofMembers } = access;
  if (teamId !== null) return { ...access, scope: 'team', teamAction };
  return organizationId === null ? access : { ...ofMembers, scope: 'organization' };
}

/** The filters of a request. The record of a refusal may look for the owner before the query is parsed: there are no filters then. */
function filtersOf(owners: OwnerParameters, query: unknown): OwnerFilters {
  const given: Record<string, string | undefined> = Object(query);
  const named = Object.entries(owners).flatMap(([level, name]) =>
    given[name] === undefined ? [] : [[level, given[name]]],
  );
  return Object.fromEntries(named);
}

function describeOwners(owners: OwnerParameters): string {
  const levels = Object.keys(owners);
  const last = levels.pop() ?? '';
  return levels.length === 0 ? last : `the ${levels.join(', ')} or ${last}`;
}

function contradictionOf(owners: OwnerParameters, { levels, reason }: Contradiction): Invalid {
  const names = levels.flatMap((level) => owners[level] ?? []);
  const message = `${names.join(', ')}: ${reason}: leave one of them out`;
  const errors = names.map((path) => ({ in: 'query', path, message }));
  return new Invalid(message, { errors }, 'filters_contradict');
}
