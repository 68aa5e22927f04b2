import { createPrivateKey, generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import { calculateJwkThumbprint } from 'jose';
import type { KeyRing, SealContext } from '#domain/shared/secrets.ts';
import { SigningKeyUnavailable } from '../errors.ts';

/** The only algorithm, because AWS and Azure accept no other. */
export const signingAlgorithm = 'RS256';
const modulusBits = 2048;

/** The public part of a key, as RFC 7517 writes it. */
export interface PublicSigningKey {
  readonly kty: 'RSA';
  readonly n: string;
  readonly e: string;
}

export interface NewKeyPair {
  /** The thumbprint of the public part (RFC 7638). */
  readonly keyId: string;
  readonly publicKey: PublicSigningKey;
  /** PKCS #8. Never show, log or store it unsealed. */
  readonly privateKey: Buffer;
}

/** Makes a key pair. It uses a thread for about 0.1 s, so do not call it in a transaction. */
export async function makeKeyPair(): Promise<NewKeyPair> {
  const pair = await promisify(generateKeyPair)('rsa', { modulusLength: modulusBits });
  const { n, e } = pair.publicKey.export({ format: 'jwk' });
  if (n === undefined || e === undefined) throw new Error('the new RSA key has no modulus or no exponent');
  const publicKey = { kty: 'RSA', n, e } as const;
  return {
    keyId: await calculateJwkThumbprint(publicKey),
    publicKey,
    privateKey: pair.privateKey.export({ type: 'pkcs8', format: 'der' }),
  };
}

export const privateKeyContext = (id: string): SealContext => ['signing-key', id];

/** @throws SigningKeyUnavailable if the key ring cannot decrypt it, or the result is not a private key */
export function openPrivateKey(keyRing: KeyRing, id: string, sealed: Uint8Array) {
  try {
    return createPrivateKey({ key: keyRing.open(privateKeyContext(id), sealed), type: 'pkcs8', format: 'der' });
  } catch (cause) {
    throw new SigningKeyUnavailable(
      'the key that signs the tokens of runs cannot be opened with the keys of the service: an administrator can rotate it, or an operator restores the missing key',
      cause,
    );
  }
}
