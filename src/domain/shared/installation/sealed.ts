import { sealedColumn } from '../sealed/sealed-column.ts';
import { installationContext } from './installation.ts';

export const installationSeals = [
  sealedColumn({
    table: 'installation',
    column: 'sealedKeys',
    key: ['id'],
    context: ({ id }) => installationContext(id),
  }),
];
