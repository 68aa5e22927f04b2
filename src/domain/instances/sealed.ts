import { sealedColumn } from '#domain/shared/sealed/sealed-column.ts';
import { outputsContext, stateContext } from './seals.ts';

export const instanceSeals = [
  sealedColumn({
    table: 'instances',
    column: 'sealedOutputs',
    key: ['id'],
    context: ({ id }) => outputsContext(id),
    isLarge: true,
  }),
  sealedColumn({
    table: 'state_versions',
    column: 'content',
    key: ['instanceId', 'serial'],
    from: ['digest'],
    context: ({ instanceId: id, digest }) => stateContext(id, digest),
    isLarge: true,
  }),
];
