import { sealedColumn } from '#domain/shared/sealed/sealed-column.ts';
import { planValueContext, valueContext } from './holders.ts';

/** The sensitive values of the variables of all holders. */
export const variableSeals = [
  sealedColumn({
    table: 'environment_variables',
    column: 'sealedValue',
    key: ['environmentId', 'name'],
    context: ({ environmentId: id, name }) => valueContext({ kind: 'environment', id }, name),
  }),
  sealedColumn({
    table: 'environment_variables',
    column: 'sealedPlanValue',
    key: ['environmentId', 'name'],
    context: ({ environmentId: id, name }) => planValueContext({ kind: 'environment', id }, name),
  }),
  sealedColumn({
    table: 'variable_set_variables',
    column: 'sealedValue',
    key: ['variableSetId', 'name'],
    context: ({ variableSetId: id, name }) => valueContext({ kind: 'variable_set', id }, name),
  }),
  sealedColumn({
    table: 'variable_set_variables',
    column: 'sealedPlanValue',
    key: ['variableSetId', 'name'],
    context: ({ variableSetId: id, name }) => planValueContext({ kind: 'variable_set', id }, name),
  }),
];
