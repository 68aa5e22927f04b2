import type { Principal } from '../access/principal.ts';

/**
 * Who holds a share of what all callers use together: whoever answers for the caller, however many service accounts they have, and the owner of what
 * the caller uses.
 */
export function holdersOf(
  { id, responsibleUserId }: Pick<Principal, 'id' | 'responsibleUserId'>,
  { organizationId, teamId }: { readonly organizationId: string | null; readonly teamId?: string | null },
): readonly string[] {
  return [`caller ${responsibleUserId ?? id}`, `owner ${organizationId ?? teamId ?? 'installation'}`];
}
