import { createHmac } from 'node:crypto';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';

/** Tells secret values from each other without keeping them. */
export type SecretDigest = (value: JsonValue) => string;

/** An HMAC: without the key, which changes with the instance, nobody can guess a value by it. Null without a key. */
export function secretDigestOf(key: string | undefined): SecretDigest | null {
  if (key === undefined) return null;
  const bytes = Buffer.from(key, 'base64');
  return (value) => createHmac('sha256', bytes).update(canonicalJson(value)).digest('base64url');
}
