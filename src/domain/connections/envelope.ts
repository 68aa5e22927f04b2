import { randomBytes } from 'node:crypto';
import { KeyRing, type SealContext } from '#domain/shared/secrets.ts';
import { CredentialsUnavailable } from './errors.ts';

/** The credentials of a connection as its row keeps them: sealed by a key of their own, which the installation's key ring seals. */
export interface SealedCredentials {
  readonly sealedKey: Uint8Array;
  readonly sealedCredentials: Uint8Array;
}

/** Both seals are bound to the connection and to the revision of its credentials: copied to another row, they do not open. */
interface Seal {
  readonly id: string;
  readonly credentialRevision: number;
}

const dataKeyBytes = 32;

export function dataKeyContext({ id, credentialRevision }: Seal): SealContext {
  return ['connection-key', id, String(credentialRevision)];
}

/** Seals credentials with a new key, which no other row and no other revision has. */
export function sealCredentials(keyRing: KeyRing, seal: Seal, credentials: Record<string, unknown>): SealedCredentials {
  const dataKey = randomBytes(dataKeyBytes);
  return {
    sealedKey: keyRing.seal(dataKeyContext(seal), dataKey),
    sealedCredentials: ringOf(dataKey).sealJson(credentialsContext(seal), credentials),
  };
}

/**
 * Opens credentials for their use. Reads never call this.
 * @throws CredentialsUnavailable if the key ring lacks the key, or the bytes are not those that were sealed for this row
 */
export function openCredentials(
  keyRing: KeyRing,
  { sealedKey, sealedCredentials, ...seal }: SealedCredentials & Seal,
): Record<string, unknown> {
  try {
    const dataKey = keyRing.open(dataKeyContext(seal), sealedKey);
    return ringOf(dataKey).openJson(credentialsContext(seal), sealedCredentials);
  } catch (cause) {
    throw new CredentialsUnavailable(cause);
  }
}

function credentialsContext({ id, credentialRevision }: Seal): SealContext {
  return ['connection-credentials', id, String(credentialRevision)];
}

function ringOf(key: Buffer): KeyRing {
  return new KeyRing([{ id: 'row', key }]);
}
