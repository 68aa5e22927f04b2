import { sealedColumn } from '../sealed/sealed-column.ts';
import { installationContext } from './installation.ts';

export const installationSeals = [
  sealedColumn({
    table: 'installation',
    column: 'sealed_keys',
    key: ['id'],
    context: ({ id }) => installationContext(id),
  }),
];
