import type { Em } from '#database/database.ts';
import { isDatabaseUnreachable } from '#database/errors.ts';
import { runJoined } from '#database/joined-queries.ts';
import type { PreparedQuery } from '#database/queries.ts';
import { AuthorizationUnavailable, type Principal } from '#domain/shared/access/principal.ts';
import type { InstallationKeys } from '#domain/shared/installation/installation.ts';
import { findByApiKey } from './api-keys/api-keys.ts';
import type { FindFirst } from './find-first.ts';
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

/** A query with its parameters, which finds what a request is about. */
export interface TargetQuery {
  // biome-ignore lint/suspicious/noExplicitAny: whoever names the query knows its parameters and its rows
  readonly query: PreparedQuery<any, any>;
  readonly parameters: object;
}

/** A principal, and the row that was found at the same moment. Undefined if there is no such row. */
export interface PrincipalAndTarget {
  readonly principal: Principal;
  readonly row: object | undefined;
}

/**
 * Finds the principal that a credential belongs to; undefined if the credential is unknown, expired or revoked. Reads the
 * database every time, so a revocation takes effect on the next request.
 * @throws AuthorizationUnavailable if the database cannot be reached
 */
export function findPrincipalByCredential(
  em: Em,
  deps: AuthenticationDeps,
  credential: PresentedCredential,
): Promise<Principal | undefined> {
  return findPrincipal(async (query, parameters) => (await query(em, parameters))[0], deps, credential);
}

/**
 * `findPrincipalByCredential`, and the row of a target in the same statement. The target is looked up only for a valid credential.
 * @throws AuthorizationUnavailable if the database cannot be reached; what the lookup of the target throws
 */
export async function findPrincipalAndTarget(
  em: Em,
  deps: AuthenticationDeps,
  credential: PresentedCredential,
  target: TargetQuery,
): Promise<PrincipalAndTarget | undefined> {
  let row: object | undefined;
  const principal = await findPrincipal(
    async (query, parameters) => {
      const joined = await runJoined(em, [query, parameters], [target.query, target.parameters]);
      row = joined?.second;
      return joined?.first;
    },
    deps,
    credential,
  );
  return principal && { principal, row };
}

async function findPrincipal(
  findFirst: FindFirst,
  { installation, keyUses }: AuthenticationDeps,
  { kind, secret }: PresentedCredential,
): Promise<Principal | undefined> {
  try {
    return kind === 'api_key'
      ? await findByApiKey(findFirst, secret, (keyId) => keyUses.note(keyId))
      : await findBySessionToken(findFirst, installation, secret);
  } catch (error) {
    throw isDatabaseUnreachable(error) ? new AuthorizationUnavailable(error) : error;
  }
}
