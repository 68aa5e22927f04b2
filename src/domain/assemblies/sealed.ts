import { sealedColumn } from '#domain/shared/sealed/sealed-column.ts';
import type { SealContext } from '#domain/shared/secrets.ts';

export const variablesContext = (runId: string): SealContext => ['assembly-variables', runId];

export const assemblySeals = [
  sealedColumn({
    table: 'assembly_runs',
    column: 'sealedVariables',
    key: ['id'],
    context: ({ id }) => variablesContext(id),
  }),
];
