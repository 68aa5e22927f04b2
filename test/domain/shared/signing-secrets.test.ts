import { expect, it } from 'vitest';
import { KeyRing } from '#domain/shared/secrets.ts';
import { type Signing, signingSecrets } from '#domain/shared/signing/signing-secrets.ts';

const keyRing = new KeyRing([{ id: 'test', key: Buffer.alloc(32, 7) }]);
const secrets = signingSecrets('test of signing');

it('a rotation keeps the secret before it for a day', () => {
  const { secret, sealed } = secrets.make(keyRing, 'one');
  const row: Signing = { id: 'one', sealedSecret: sealed };
  const renewed = secrets.renew(keyRing, row);
  expect(secrets.open(keyRing, row)).toEqual([renewed, secret]);
});

it('a rotation replaces a secret that cannot be opened, so that messages are signed again', () => {
  const row: Signing = { id: 'one', sealedSecret: Buffer.from('broken') };
  expect(() => secrets.open(keyRing, row)).toThrow();
  const renewed = secrets.renew(keyRing, row);
  expect(secrets.open(keyRing, row)).toEqual([renewed]);
});
