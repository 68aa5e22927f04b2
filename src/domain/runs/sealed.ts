import { sealedColumn } from '#domain/shared/sealed/sealed-column.ts';
import { inputsContext } from './admission/inputs.ts';
import { artifactContext, debugLogContext } from './attempts/seals.ts';

export const runSeals = [
  sealedColumn({ table: 'runs', column: 'sealed_inputs', key: ['id'], context: ({ id }) => inputsContext(id) }),
  sealedColumn({
    table: 'run_plans',
    column: 'artifact',
    key: ['run_id'],
    context: ({ run_id: id }) => artifactContext(id),
    isLarge: true,
  }),
  sealedColumn({
    table: 'run_debug_logs',
    column: 'content',
    key: ['attempt_id'],
    context: ({ attempt_id: id }) => debugLogContext(id),
    isLarge: true,
  }),
];
