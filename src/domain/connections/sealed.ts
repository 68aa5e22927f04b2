import { sealedColumn } from '#domain/shared/sealed/sealed-column.ts';
import { dataKeyContext } from './envelope.ts';

/** `sealed_credentials` is sealed by the row's own key, which stays the same when the key ring changes. */
export const connectionSeals = [
  sealedColumn({
    table: 'connections',
    column: 'sealedKey',
    key: ['id'],
    from: ['credentialRevision'],
    context: ({ id, credentialRevision: revision }) => dataKeyContext({ id, credentialRevision: Number(revision) }),
  }),
];
