import { z } from 'zod';
import { command, read } from '#api/pipeline/operation.ts';
import { AnswerId, Time } from '#api/pipeline/schemas.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import { makeKeyPair } from '#domain/workload-identity/signing-keys/key-pair.ts';
import {
  changeOf,
  findSigningKeys,
  rotateSigningKeys,
  type SigningKeyView,
} from '#domain/workload-identity/signing-keys/rotation.ts';
import { signingKeyStatuses } from '#domain/workload-identity/signing-keys/schedule.ts';

const access: Access = {
  anyOf: ['settings.manage'],
  scope: 'platform',
  hidden: 'not_found',
  review: { resource: 'signing_keys', verb: 'list' },
};

/** A signing key as administrators see it: without its private part. */
export const KeyView = z
  .object({
    id: AnswerId,
    key_id: z.string().describe('`kid` of the tokens that it signs.'),
    status: z
      .enum(signingKeyStatuses)
      .describe(
        '`upcoming`: published, and does not sign yet. `retired`: published until the last token that it has signed is over.',
      ),
    signs_from: Time,
    published_until: Time.nullable().describe('Null while no other key follows it.'),
    created_at: Time,
  })
  .meta({ id: 'SigningKey' });

const RotateKeys = z
  .strictObject({
    withdraw_others: z
      .boolean()
      .default(false)
      .describe(
        'For keys that may have leaked: the new key signs at once, and all others are withdrawn. Verifiers refuse the tokens that these have signed as soon as they read the keys again.',
      ),
  })
  .meta({ id: 'RotateSigningKeys' });

export const list = read({
  id: 'signing_keys.list',
  route: 'GET /api/v1/admin/signing-keys',
  summary: 'List the published keys by which the service signs the tokens of runs, the newest first',
  description: 'The list has no pages: there are a few at most.',
  responses: { 200: z.object({ signing_keys: z.array(KeyView) }).meta({ id: 'SigningKeys' }) },
  access,
  handle: async ({ em }) => ({ signing_keys: (await findSigningKeys(em, false)).schedule.map(viewKey) }),
});

export const rotate = command({
  id: 'signing_keys.rotate',
  route: 'POST /api/v1/admin/signing-keys/rotate',
  summary: 'Publish a new key, which signs the tokens of runs in an hour',
  description:
    'The service does this by itself in time. While a new key is published that does not sign yet, it answers 409.',
  body: RotateKeys.prefault({}),
  responses: { 200: KeyView },
  access: { ...access, review: { resource: 'signing_keys', verb: 'rotate' } },
  target: ({ em, lock }) => findSigningKeys(em, lock),
  idempotency: 'none',
  audit: 'signing_key.rotated',
  prepare: () => makeKeyPair(),
  handle: async ({ tx, target, body, prepared: pair, services }) => {
    const withdrawOthers = body.withdraw_others;
    const key = await rotateSigningKeys(tx, target, { keyRing: services.keyRing, pair, withdrawOthers });
    const { id, after } = changeOf(key);
    return { id, after: { ...after, withdraw_others: withdrawOthers }, answer: viewKey(key) };
  },
});

function viewKey({ id, keyId, status, signsFrom, publishedUntil, createdAt }: SigningKeyView): z.input<typeof KeyView> {
  return {
    id,
    key_id: keyId,
    status,
    signs_from: signsFrom,
    published_until: publishedUntil?.toISOString() ?? null,
    created_at: createdAt,
  };
}
