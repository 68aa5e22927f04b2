import { sealedColumn } from '#domain/shared/sealed/sealed-column.ts';
import { privateKeyContext } from './signing-keys/key-pair.ts';

export const workloadIdentitySeals = [
  sealedColumn({
    table: 'signing_keys',
    column: 'sealedPrivateKey',
    key: ['id'],
    context: ({ id }) => privateKeyContext(id),
  }),
];
