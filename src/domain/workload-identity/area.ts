import type { DeclaredAction } from '#domain/shared/commands/declared-action.ts';
import { sealedColumn } from '#domain/shared/sealed/sealed-column.ts';
import { SigningKeySchema } from './entity.ts';
import { privateKeyContext } from './signing-keys/key-pair.ts';

export const entities = [SigningKeySchema] as const;

export const systemActions = {
  'signing_key.created': {
    summary: 'Publish a new key for signing the tokens of runs, since the one before has signed long enough',
    resourceType: 'signing_keys',
    actor: 'key rotation',
  },
} as const satisfies Record<string, DeclaredAction>;

export const sealed = [
  sealedColumn({
    table: 'signing_keys',
    column: 'sealedPrivateKey',
    key: ['id'],
    context: ({ id }) => privateKeyContext(id),
  }),
];

export const errorCodes = {
  signing_key_upcoming: 'A new signing key is published already, and does not sign yet.',
  issuer_unknown: 'Workload identity needs the public URL of the service, and no operator has set it.',
} as const;
