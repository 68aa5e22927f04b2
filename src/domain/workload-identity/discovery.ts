import { signingAlgorithm } from './signing-keys/key-pair.ts';
import type { SigningKeysTarget } from './signing-keys/rotation.ts';
import { claimNames } from './tokens/claims.ts';

/** The path below the issuer that OpenID Connect Discovery 1.0 prescribes in section 4. */
export const configurationPath = '/.well-known/openid-configuration';
export const keysPath = '/.well-known/jwks.json';

/** The document in which verifiers find the keys of an issuer. It names no endpoint for signing in, because the issuer offers none. */
export function configurationOf(issuer: string) {
  return {
    issuer,
    jwks_uri: `${issuer}${keysPath}`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [signingAlgorithm],
    scopes_supported: ['openid'],
    claims_supported: claimNames,
  };
}

/** The public parts of all published keys (RFC 7517). */
export function publicKeysOf({ schedule }: SigningKeysTarget) {
  const keys = schedule.map(({ keyId, publicKey: { kty, n, e } }) => {
    return { kty, use: 'sig' as const, alg: signingAlgorithm, kid: keyId, n, e };
  });
  return { keys };
}
