import type { GitCredential } from '#domain/sources/git/access.ts';

/**
 * Where `init` may read private modules, and with what. Programs of the attempt never see the credential: the executor's host adds it to their requests.
 * Attempts share what `init` fetched only if they agree in `identity`.
 */
export type ModuleSource =
  | { readonly kind: 'git'; readonly url: string; readonly credential: GitCredential; readonly identity: string }
  | { readonly kind: 'registry'; readonly host: string; readonly token: string; readonly identity: string };
