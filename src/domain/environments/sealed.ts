import { sealedColumn } from '#domain/shared/sealed/sealed-column.ts';
import { planValueContext, variableContext } from './variables.ts';

export const environmentSeals = [
  sealedColumn({
    table: 'environment_variables',
    column: 'sealed_value',
    key: ['environment_id', 'name'],
    context: ({ environment_id: id, name }) => variableContext(id, name),
  }),
  sealedColumn({
    table: 'environment_variables',
    column: 'sealed_plan_value',
    key: ['environment_id', 'name'],
    context: ({ environment_id: id, name }) => planValueContext(id, name),
  }),
];
