import { sealedColumn } from '#domain/shared/sealed/sealed-column.ts';
import { planValueContext, valueContext } from './holders.ts';

/** The sensitive values of variables, whatever holds them. */
export const variableSeals = [
  sealedColumn({
    table: 'environment_variables',
    column: 'sealed_value',
    key: ['environment_id', 'name'],
    context: ({ environment_id: id, name }) => valueContext({ kind: 'environment', id }, name),
  }),
  sealedColumn({
    table: 'environment_variables',
    column: 'sealed_plan_value',
    key: ['environment_id', 'name'],
    context: ({ environment_id: id, name }) => planValueContext({ kind: 'environment', id }, name),
  }),
  sealedColumn({
    table: 'variable_set_variables',
    column: 'sealed_value',
    key: ['variable_set_id', 'name'],
    context: ({ variable_set_id: id, name }) => valueContext({ kind: 'variable_set', id }, name),
  }),
  sealedColumn({
    table: 'variable_set_variables',
    column: 'sealed_plan_value',
    key: ['variable_set_id', 'name'],
    context: ({ variable_set_id: id, name }) => planValueContext({ kind: 'variable_set', id }, name),
  }),
];
