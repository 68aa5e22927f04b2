import type { Ownership } from './decide.ts';

/** For which owners of a thing something was granted, and when a transfer ended it. */
export interface Grant {
  readonly savedFor: Ownership;
  /** Null: no transfer did. */
  readonly voidSince: string | null;
}

/** Whether a grant counts while a thing has these owners. */
export function isInForce({ savedFor, voidSince }: Grant, { teamId, organizationId }: Ownership): boolean {
  return voidSince === null && savedFor.teamId === teamId && savedFor.organizationId === organizationId;
}
