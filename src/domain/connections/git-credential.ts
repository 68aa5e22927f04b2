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

/** The principal who reads a repository, and the owner of the template. */
export interface GitReader {
  readonly em: Em;
  readonly keyRing: KeyRing;
  readonly principal: Principal;
  readonly owner: Ownership;
}

/** The publisher needs only the permission: the owner of the connection decides for which templates it may be used. */
const useAccess: Access = {
  anyOf: ['connection:use'],
  scope: 'platform',
  hidden: 'not_found',
  review: 'none',
};

/**
 * The credential of the connection that a template names for its repository. It may only be used for repositories below the connection's
 * URL: the publisher chooses the URL of the repository, and must not redirect the credential to another host.
 * @throws FeatureDisabled while connections are turned off; Forbidden without `connection:use`; Unprocessable if there is no such
 * connection, or the repository is not below its URL; CredentialsUnavailable if its credentials cannot be opened
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
