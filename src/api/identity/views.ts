import { z } from 'zod';
import { Time } from '#api/pipeline/schemas.ts';
import { type IssuedKey, longestOverlapSeconds } from '#domain/identity/api-keys/changes.ts';
import { apiKeyStates, type KeyRow } from '#domain/identity/api-keys/reads.ts';
import { apiKeyKinds, PersonName } from '#domain/identity/model.ts';
import { durationBetween, parseDuration } from '#domain/shared/durations.ts';

export const ApiKeyView = z.object({
  id: z.string(),
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
});

/** The only answer that ever holds a key. */
export const IssuedKeyView = z.object({
  api_key: ApiKeyView,
  key: z.string().describe('Shown this once: the service keeps a verifier alone.'),
});

/** The change of a command that made a key. Only its first answer shows the key. `replaced` is the key that the new one replaces. */
export function issuedChange(
  principalId: string,
  { apiKey, key }: IssuedKey,
  replaced: { readonly id: string } | null = null,
) {
  const { id, kind, name, expires_at: expiresAt } = apiKey;
  const after = { principalId, kind, name, expiresAt, ...(replaced && { replaces: replaced.id }) };
  return { id, after, answer: { api_key: apiKey, key } };
}

/** What a command that ended a key changed. */
export function revokedChange(principalId: string, { id, kind, name }: KeyRow) {
  return { id, before: { principalId, kind, name } };
}

const ExpiresAt = z.iso.datetime({ offset: true }).optional().describe('Never, where none is given.');

export const CreateKey = z.strictObject({ name: PersonName, expires_at: ExpiresAt });
export const RegenerateKey = z.strictObject({ expires_at: ExpiresAt }).optional();
export const RotateKey = z
  .strictObject({
    overlap: durationBetween(0, longestOverlapSeconds)
      .optional()
      .describe('How long the old key stays valid beside the new one; it ends at once where none is given.'),
  })
  .optional();

/** The time in a body that `CreateKey` or `RegenerateKey` took. */
export function expiryOf(body: { expires_at?: string | undefined } | undefined): Date | null {
  return body?.expires_at === undefined ? null : new Date(body.expires_at);
}

/** The seconds in a body that `RotateKey` took. */
export function overlapOf(body: z.output<typeof RotateKey>): number {
  return parseDuration(body?.overlap ?? 'PT0S') ?? 0;
}
