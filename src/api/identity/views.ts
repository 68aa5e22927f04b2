import { z } from 'zod';
import { answerOf } from '#api/pipeline/fields.ts';
import { AnswerId, Time } from '#api/pipeline/schemas.ts';
import { type IssuedKey, maxOverlapSeconds } from '#domain/identity/api-keys/changes.ts';
import type { ApiKeyDetails } from '#domain/identity/api-keys/store.ts';
import { apiKeyKinds, apiKeyStates, PersonName } from '#domain/identity/model.ts';
import { durationBetween, parseDuration } from '#domain/shared/values/durations.ts';
import { TimeInput } from '#domain/shared/values/times.ts';

export const ApiKeyView = z
  .object({
    id: AnswerId,
    kind: z.enum(apiKeyKinds),
    name: z.string(),
    hint: z.string().describe('The last four characters of the key.'),
    state: z.enum(apiKeyStates),
    issued_by: z.string().describe('The user who answers for it.'),
    rotated_from: z.string().nullable().describe('The key that it replaced.'),
    created_at: Time,
    expires_at: Time.nullable(),
    revoked_at: Time.nullable(),
    last_used_at: Time.nullable().describe('To the minute.'),
  })
  .meta({ id: 'ApiKey' });

export function viewApiKey(key: ApiKeyDetails) {
  return answerOf(ApiKeyView.shape, key);
}

/** The only answer that contains a key's plaintext. */
export const IssuedKeyView = z
  .object({
    api_key: ApiKeyView,
    key: z.string().describe('Shown only in this response: the service stores a verifier.'),
  })
  .meta({ id: 'IssuedKey' });

/**
 * The change of a command that created a key. Only the first answer of the command shows the key. `replaced` is the key that the new one
 * replaces.
 */
export function issuedChange(
  principalId: string,
  { apiKey, key }: IssuedKey,
  replaced: { readonly id: string } | null = null,
) {
  const { id, kind, name, expiresAt } = apiKey;
  const after = { principalId, kind, name, expiresAt, ...(replaced && { replaces: replaced.id }) };
  return { id, after, answer: { api_key: viewApiKey(apiKey), key } };
}

/** The change of a command that revoked a key. */
export function revokedChange(principalId: string, { id, kind, name }: ApiKeyDetails) {
  return { id, before: { principalId, kind, name } };
}

const ExpiresAt = TimeInput.optional().describe(
  'Without it, the key never expires. An API key makes no key that expires later than itself.',
);

export const CreateKey = z.strictObject({ name: PersonName, expires_at: ExpiresAt }).meta({ id: 'CreateApiKey' });
export const RegenerateKey = z.strictObject({ expires_at: ExpiresAt }).meta({ id: 'RegenerateApiKey' }).optional();
export const RotateKey = z
  .strictObject({
    overlap: durationBetween(0, maxOverlapSeconds)
      .optional()
      .describe('How long the old key stays valid beside the new one; it ends at once where none is given.'),
  })
  .meta({ id: 'RotateApiKey' })
  .optional();

/** The expiry in a body of `CreateKey` or `RegenerateKey`. */
export function expiryOf(body: { expires_at?: string | undefined } | undefined): Date | null {
  return body?.expires_at === undefined ? null : new Date(body.expires_at);
}

/** The overlap in a body of `RotateKey`, in seconds. */
export function overlapOf(body: z.output<typeof RotateKey>): number {
  return parseDuration(body?.overlap ?? 'PT0S') ?? 0;
}
