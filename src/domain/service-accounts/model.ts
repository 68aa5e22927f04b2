import type { PlatformRole } from '#domain/shared/vocabulary/roles.ts';

/** The user or the team that becomes the owner: exactly one of the two. */
export interface NewOwner {
  readonly userId?: string | undefined;
  readonly teamId?: string | undefined;
}

export interface NewAccount {
  readonly name: string;
  readonly role: PlatformRole;
}

/** The fields of a service account to change. A field that is left out keeps its value. */
export interface AccountChange {
  readonly name?: string | undefined;
  readonly role?: PlatformRole | undefined;
  readonly expectedRevision?: number | undefined;
}
