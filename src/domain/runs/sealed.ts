import { sealedColumn } from '#domain/shared/sealed/sealed-column.ts';
import { inputsContext } from './admission/inputs.ts';
import { artifactContext, debugLogContext } from './attempts/seals.ts';

export const runSeals = [
  sealedColumn({ table: 'runs', column: 'sealedInputs', key: ['id'], context: ({ id }) => inputsContext(id) }),
  sealedColumn({
    table: 'run_plans',
    column: 'artifact',
    key: ['runId'],
    context: ({ runId: id }) => artifactContext(id),
    isLarge: true,
  }),
  sealedColumn({
    table: 'run_debug_logs',
    column: 'content',
    key: ['attemptId'],
    context: ({ attemptId: id }) => debugLogContext(id),
    isLarge: true,
  }),
];
