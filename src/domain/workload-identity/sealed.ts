import { sealedColumn } from '#domain/shared/sealed/sealed-column.ts';
import { privateKeyContext } from './signing-keys/key-pair.ts';

export const workloadIdentitySeals = [
  sealedColumn({
    table: 'signing_keys',
    column: 'sealed_private_key',
    key: ['id'],
    context: ({ id }) => privateKeyContext(id),
  }),
];
