import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Em } from '#database/database.ts';
import { type Principal, toPrincipal } from '#domain/shared/access/principal.ts';
import { newId } from '#domain/shared/ids.ts';
import { ApiKey } from '../entity.ts';
import type { FindFirst } from '../find-first.ts';
import type { ApiKeyKind } from '../model.ts';
import { findPrincipalByVerifier } from './store.ts';

const prefix = 'dc_';
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const randomLength = 43;
const checksumLength = 6;
const pattern = new RegExp(`^${prefix}[0-9A-Za-z]{${randomLength + checksumLength}}$`);

/** A new random key: `dc_`, 43 random base62 characters, and 6 of their CRC-32, by which a secret scanner recognizes a real key. */
export function generateApiKey(): string {
  const random = Array.from({ length: randomLength }, () => alphabet[randomInt(alphabet.length)]).join('');
  return prefix + random + checksum(random);
}

/** Whether a text begins like every key. It need not be a key. */
export function beginsAsApiKey(text: string): boolean {
  return text.startsWith(prefix);
}

/** Whether a text has the form and the checksum of a key. The key may still be unknown. */
export function looksLikeApiKey(text: string): boolean {
  if (!pattern.test(text)) return false;
  const random = text.slice(prefix.length, prefix.length + randomLength);
  return text.endsWith(checksum(random));
}

function checksum(random: string): string {
  let rest = crc32(random);
  let text = '';
  for (let index = 0; index < checksumLength; index += 1) {
    text = alphabet[rest % alphabet.length] + text;
    rest = Math.floor(rest / alphabet.length);
  }
  return text;
}

function verifierOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** Creates a key for a principal; the caller flushes. Only this function returns the plaintext: the row stores a verifier. */
export function issueApiKey(
  em: Em,
  request: {
    principalId: string;
    kind?: ApiKeyKind;
    name: string;
    expiresAt: Date | null;
    issuedBy: string;
    rotatedFrom?: string | null;
  },
): { apiKey: ApiKey; key: string } {
  const key = generateApiKey();
  const apiKey = em.create(ApiKey, { id: newId(), ...request, verifier: verifierOf(key), hint: key.slice(-4) });
  em.persist(apiKey);
  return { apiKey, key };
}

/**
 * The principal of an active key, found by one query; undefined if there is none. The lookup uses a hash of the whole key, so
 * its timing reveals nothing about a part of it. `onUse` is called if the key's last recorded use is more than a minute old.
 */
export async function findByApiKey(
  findFirst: FindFirst,
  key: string,
  onUse: (keyId: string) => void,
): Promise<Principal | undefined> {
  if (!looksLikeApiKey(key)) return undefined;
  const found = await findFirst(findPrincipalByVerifier, { verifier: verifierOf(key) });
  if (!found) return undefined;
  const { keyId, issuedBy, stale, ...row } = found;
  if (stale) onUse(keyId);
  return toPrincipal(row, { type: 'api_key', id: keyId, issuedBy });
}
