import type { Em } from '#database/database.ts';
import { type Access, decidePermission, type Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { withRole } from '#domain/shared/access/weakest-role.ts';
import { Forbidden, Unprocessable } from '#domain/shared/errors.ts';
import { refuseClosed } from '#domain/shared/features/gates.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { GitCredential } from '#domain/sources/git/access.ts';
import { openCredentials } from './envelope.ts';
import { git, isBelow, toGitCredential } from './kinds/git.ts';
import { findUsableConnection } from './usable-store.ts';

/** Who reads a repository, for a template of which owner. */
export interface GitReader {
  readonly em: Em;
  readonly keyRing: KeyRing;
  readonly principal: Principal;
  readonly owner: Ownership;
}

/** Where the connection is decides who may use it for a template, so the permission alone is asked of the publisher. */
const useAccess: Access = {
  anyOf: ['connection:use'],
  scope: 'platform',
  hidden: 'not_found',
  review: 'none',
};

/**
 * The credential of the connection that a template names for its repository. It is for repositories below the connection's URL alone:
 * whoever publishes chooses the URL, and must not have the credential sent to a host of theirs.
 * @throws FeatureDisabled while connections are turned off; Forbidden without `connection:use`; Unprocessable if there is no such connection, or its URL is another;
 * CredentialsUnavailable if its credentials do not open
 */
export async function findGitCredential(
  { em, keyRing, principal, owner }: GitReader,
  { connection: name, url }: { readonly connection: string; readonly url: string },
): Promise<GitCredential> {
  refuseClosed('connections', principal.closedFeatures);
  if (!decidePermission(principal, useAccess).allowed)
    throw new Forbidden(`permission denied: publishing with a connection needs ${withRole('connection:use')}`);
  const found = await findUsableConnection(em, { name, kind: 'git' }, owner);
  if (!found)
    throw new Unprocessable(`there is no connection "${name}" of the kind git that this template may use`, {
      code: 'connection_unknown',
    });
  const config = git.config.parse(found.config);
  if (!isBelow(url, config.url))
    throw new Unprocessable(`the connection "${name}" opens repositories below ${config.url} and no others`, {
      code: 'source_credential_unfit',
    });
  return toGitCredential(git.credentials.parse(openCredentials(keyRing, found)));
}
