import type { Credential, Principal } from '#domain/shared/access/principal.ts';
import type { Command } from '#domain/shared/commands/command.ts';
import type { OwnershipSnapshot } from '../places/ownership-snapshot.ts';

/** The state of the resource that the caller has read. */
export interface ExpectedResource {
  readonly expectedRevision: number;
  readonly expectedOwnership: OwnershipSnapshot;
}

/** A command as it was requested, so that the workflow executes the same one. The caller is read again then. It contains no secrets. */
export interface StoredRestore extends Omit<Command, 'caller' | 'key'> {
  readonly caller: Pick<Principal, 'id' | 'kind' | 'name'> & { readonly credential: Credential };
  readonly expected: ExpectedResource;
  /** The data that the receipt keeps for the answer. */
  readonly answer: Readonly<Record<string, unknown>>;
}
