import type { Em } from '#database/database.ts';
import { isDatabaseUnreachable } from '#database/errors.ts';
import { AuthorizationUnavailable, type Principal } from '#domain/shared/access/principal.ts';
import type { InstallationKeys } from '#domain/shared/installation/installation.ts';
import { findByApiKey } from './api-keys/api-keys.ts';
import { findBySessionToken } from './sessions/sessions.ts';

/** A secret that a request presents to prove its principal. */
export interface PresentedCredential {
  readonly kind: 'api_key' | 'session_token';
  readonly secret: string;
}

/** What authentication needs besides the database. */
export interface AuthenticationDeps {
  readonly installation: InstallationKeys;
  /** Records the use of an API key. */
  readonly keyUses: { note(keyId: string): void };
}

/**
 * Finds the principal that a credential belongs to; undefined if the credential is unknown, expired or revoked. Reads the
 * database every time, so a revocation takes effect on the next request.
 * @throws AuthorizationUnavailable if the database cannot be reached
 */
export async function findPrincipalByCredential(
  em: Em,
  { installation, keyUses }: AuthenticationDeps,
  { kind, secret }: PresentedCredential,
): Promise<Principal | undefined> {
  try {
    return kind === 'api_key'
      ? await findByApiKey(em, secret, (keyId) => keyUses.note(keyId))
      : await findBySessionToken(em, installation, secret);
  } catch (error) {
    throw isDatabaseUnreachable(error) ? new AuthorizationUnavailable(error) : error;
  }
}
