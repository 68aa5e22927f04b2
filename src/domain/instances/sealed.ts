import { sealedColumn } from '#domain/shared/sealed/sealed-column.ts';
import { outputsContext, stateContext } from './seals.ts';

export const instanceSeals = [
  sealedColumn({
    table: 'instances',
    column: 'sealed_outputs',
    key: ['id'],
    context: ({ id }) => outputsContext(id),
    isLarge: true,
  }),
  sealedColumn({
    table: 'state_versions',
    column: 'content',
    key: ['instance_id', 'serial'],
    from: ['digest'],
    context: ({ instance_id: id, digest }) => stateContext(id, digest),
    isLarge: true,
  }),
];
