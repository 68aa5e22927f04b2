import type { IssuedKey } from '#domain/identity/key-changes.ts';
import type { KeyRow } from '#domain/identity/key-reads.ts';
import type { Outcome } from '#domain/shared/command.ts';
import { viewIssued } from './views/api-keys.ts';

/** Whose keys they are, as history has it, and where they are found. */
export interface KeyPlace {
  readonly principalId: string;
  readonly path: string;
  readonly organizationId?: string | null;
  readonly teamId?: string | null;
}

/** What a command that made a key answers: the one answer that holds it. `replaced`: the key whose place it took. */
export function issuedOutcome(
  action: 'api_key.created' | 'api_key.rotated' | 'api_key.regenerated',
  { principalId, path, organizationId = null, teamId = null }: KeyPlace,
  issued: IssuedKey,
  replaced: { readonly id: string } | null = null,
): Outcome {
  const { id, kind, name, expires_at } = issued.apiKey;
  const after = { principal_id: principalId, kind, name, expires_at, ...(replaced && { replaces: replaced.id }) };
  const audit = { action, resource: { type: 'api_keys', id }, organizationId, teamId, after };
  return { status: 201, location: `${path}/${id}`, body: viewIssued(issued), audit };
}

/** What a command that ended a key answers. */
export function revokedOutcome(place: KeyPlace, { id, kind, name }: KeyRow): Outcome {
  const before = { principal_id: place.principalId, kind, name };
  const { organizationId = null, teamId = null } = place;
  const resource = { type: 'api_keys', id };
  return { status: 204, audit: { action: 'api_key.revoked', resource, organizationId, teamId, before } };
}
