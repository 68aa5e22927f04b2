import type { Ownership } from './decide.ts';

/** The owners that a thing had when something was granted, and when a transfer voided the grant. */
export interface Grant {
  readonly savedFor: Ownership;
  /** Null: no transfer has voided it. */
  readonly voidSince: string | null;
}

/** Whether a grant counts while a thing has these owners. */
export function isInForce({ savedFor, voidSince }: Grant, { teamId, organizationId }: Ownership): boolean {
  return voidSince === null && savedFor.teamId === teamId && savedFor.organizationId === organizationId;
}
