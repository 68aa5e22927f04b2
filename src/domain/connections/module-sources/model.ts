import type { GitCredential } from '#domain/sources/git/access.ts';

/**
 * A place where `init` may read private modules, with its credential. Programs of the attempt never see the credential: the executor's host
 * adds it to their requests. Attempts share fetched modules only if they have the same `identity`.
 */
export type ModuleSource =
  | { readonly kind: 'git'; readonly url: string; readonly credential: GitCredential; readonly identity: string }
  | { readonly kind: 'registry'; readonly host: string; readonly token: string; readonly identity: string };
