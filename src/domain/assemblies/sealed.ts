import { sealedColumn } from '#domain/shared/sealed/sealed-column.ts';
import { variablesContext } from './runs/admission/variables.ts';

export const assemblySeals = [
  sealedColumn({
    table: 'assembly_runs',
    column: 'sealed_variables',
    key: ['id'],
    context: ({ id }) => variablesContext(id),
  }),
];
