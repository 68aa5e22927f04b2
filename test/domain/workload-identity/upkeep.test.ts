import { decodeProtectedHeader } from 'jose';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type IdentityStage, openIdentityStage } from '#test/support/workload-identity/identity-stage.ts';

let stage: IdentityStage;
beforeEach(async () => {
  stage = await openIdentityStage('https://coordinator.example.com');
});
afterEach(() => stage?.api.close());

const readKeys = () =>
  stage.api.rows<{ id: string; has_private: boolean }>(
    'select id, sealed_private_key is not null as has_private from signing_keys order by signs_from',
  );
const signer = async () => decodeProtectedHeader(await stage.mint(await stage.planning())).kid;

it('workers that start at the same time create one first key, and the audit records it', async () => {
  await stage.api.rows('delete from signing_keys');
  const made = await Promise.all([1, 2, 3].map(() => stage.keepKeys()));
  expect(made.filter((id) => id !== null)).toHaveLength(1);
  expect(await readKeys()).toHaveLength(1);
  const records = await stage.api.rows(
    `select actor_name, resource_type, after from audit_records where action = 'signing_key.created' and resource_id = ?`,
    [made.find((id) => id !== null)],
  );
  expect(records).toEqual([
    {
      actor_name: 'key rotation',
      resource_type: 'signing_keys',
      after: { key_id: expect.any(String), signs_from: expect.any(String) },
    },
  ]);
});

it('the next key is published before it signs, and the last one kept until its last token has expired', async () => {
  const first = await signer();
  await stage.passHours(22);
  expect(await stage.keepKeys(1), 'it is not time yet').toBeNull();
  await stage.passHours(1);
  expect(await stage.keepKeys(1)).not.toBeNull();
  expect(await stage.keepKeys(1), 'the next one is published already').toBeNull();
  expect(await signer(), 'the new key does not sign yet').toBe(first);

  await stage.passHours(1);
  expect(await signer()).not.toBe(first);
  await stage.keepKeys(1);
  expect(await readKeys(), 'the private part of the old key is gone').toMatchObject([
    { has_private: false },
    { has_private: true },
  ]);
  await stage.passHours(1.1);
  await stage.keepKeys(1);
  expect(await readKeys(), 'nobody needs the old key any more').toMatchObject([{ has_private: true }]);
});
