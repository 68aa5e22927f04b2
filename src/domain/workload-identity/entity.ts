import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id } from '#database/columns.ts';
import type { PublicSigningKey } from './signing-keys/key-pair.ts';

/** A key that signs the tokens of attempts. `scheduleOf` computes from the times of all keys when it signs. */
export const SigningKeySchema = defineEntity({
  name: 'SigningKey',
  tableName: 'signing_keys',
  uniques: [{ name: 'signing_keys_key_id_unique', properties: ['keyId'] }],
  properties: {
    id: id(),
    /** The `kid` of the tokens that it signs. */
    keyId: p.string(),
    publicKey: p.json<PublicSigningKey>(),
    /** Null when it no longer signs. */
    sealedPrivateKey: p.blob().nullable().hidden(),
    signsFrom: at(),
    createdAt: createdAt(),
  },
});
export class SigningKey extends SigningKeySchema.class {}
SigningKeySchema.setClass(SigningKey);
