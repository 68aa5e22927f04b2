import type { ColumnType, Kysely } from 'kysely';
import type { Em } from '#database/database.ts';
import { queriesOf } from '#database/queries.ts';
import type { Tables } from '#domain/entities.ts';
import type { Archivable } from '#domain/shared/archiving.ts';
import type { SealContext } from '#domain/shared/secrets.ts';

/** The holder of variables: an environment or a variable set. */
export interface VariableHolder {
  readonly kind: 'environment' | 'variable_set';
  readonly id: string;
}

/** A holder whose variables a command changes. */
export interface ChangedHolder extends VariableHolder, Archivable {
  /** It increases with every change of the holder's variables. */
  readonly variablesRevision: number;
}

/** The nouns, tables and columns of each kind of holder. Sealed values are bound to some of them, so those must never change. */
const places = {
  environment: {
    article: 'an environment',
    table: 'environment_variables',
    column: 'environmentId',
    holders: 'environments',
    revision: 'variablesRevision',
    value: 'environment-variable',
    planValue: 'environment-variable-plan',
  },
  variable_set: {
    article: 'a variable set',
    table: 'variable_set_variables',
    column: 'variableSetId',
    holders: 'variable_sets',
    revision: 'revision',
    value: 'variable-set-variable',
    planValue: 'variable-set-variable-plan',
  },
} as const;

export function placeOf({ kind }: Pick<VariableHolder, 'kind'>) {
  return places[kind];
}

/** Binds a sealed value to its variable, so that it cannot be decrypted if somebody copies it to another name or holder. */
export function valueContext({ kind, id }: VariableHolder, name: string): SealContext {
  return [places[kind].value, id, name];
}

export function planValueContext({ kind, id }: VariableHolder, name: string): SealContext {
  return [places[kind].planValue, id, name];
}

type HolderColumn = ColumnType<string, string | undefined, never>;
/** The columns that the tables of all holders have. A row has the column of its own holder only. */
type VariableColumns = Omit<Tables['environment_variables'], 'environmentId'> &
  Record<'environmentId' | 'variableSetId', HolderColumn>;

/** Queries over the variables of any holder. The names of tables and columns come from `places`, never from a request. */
export function variableTables(em: Em): Kysely<Record<string, VariableColumns>> {
  return queriesOf<Record<string, VariableColumns>>(em);
}
