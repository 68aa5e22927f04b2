import type { Credential, Principal } from '#domain/shared/access/principal.ts';
import type { Command } from '#domain/shared/commands/command.ts';
import type { OwnershipSnapshot } from '../places/ownership-snapshot.ts';

/** What the caller has read of the resource. */
export interface ExpectedResource {
  readonly expectedRevision: number;
  readonly expectedOwnership: OwnershipSnapshot;
}

/** A command as it was requested, so that the workflow carries out the same one: its caller is read afresh. It has no secrets. */
export interface StoredRestore extends Omit<Command, 'caller' | 'key'> {
  readonly caller: Pick<Principal, 'id' | 'kind' | 'name'> & { readonly credential: Credential };
  readonly expected: ExpectedResource;
  /** What the receipt keeps for the answer. */
  readonly answer: Readonly<Record<string, unknown>>;
}
