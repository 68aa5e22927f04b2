import { createHmac } from 'node:crypto';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';

/** Returns a digest by which secret values can be told apart without storing them. */
export type SecretDigest = (value: JsonValue) => string;

/** Makes an HMAC. Nobody can guess a value from it without the key, which differs for each instance. Null without a key. */
export function secretDigestOf(key: string | undefined): SecretDigest | null {
  if (key === undefined) return null;
  const bytes = Buffer.from(key, 'base64');
  return (value) => createHmac('sha256', bytes).update(canonicalJson(value)).digest('base64url');
}
