import type { PrincipalReference } from '#domain/shared/access/principal.ts';

/** The reasons that keep applies from starting, as rows and waiting runs store them. Pure. */

/** What keeps every apply from starting: a pause of the installation, a lock or a freeze window of the environment. */
export const holdCodes = ['paused', 'locked', 'frozen'] as const;
export type HoldCode = (typeof holdCodes)[number];

/** Who or what keeps applies from starting. */
export interface HoldBlocker {
  /** Who paused or locked; null for a freeze window. */
  by: PrincipalReference | null;
  /** The name of the freeze window; null for a pause or a lock. */
  name: string | null;
  reason: string;
  /** RFC 3339; null: until somebody ends it. */
  until: string | null;
}

/** A lock or a pause, as it is stored. */
export interface StoredHold {
  readonly reason: string;
  /** RFC 3339. */
  readonly since: string;
  /** RFC 3339; null: until somebody ends it. */
  readonly until: string | null;
  readonly by: PrincipalReference;
}
