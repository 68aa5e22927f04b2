import type { Services } from '#api/services.ts';
import type { Em } from '#database/database.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { RequestFacts } from '#domain/shared/audit.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';

/**
 * The input of a target resolver: that by which it finds the target, and whether to lock it. Access reviews and the records of refusals
 * find a target by its path alone: `body` is empty then.
 */
export interface TargetLookup<P, Q, B> {
  readonly em: Em;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** The caller's id, for resolvers that find resources relative to the caller. It decides nothing about the caller's authority. */
  readonly callerId: string;
  /** True inside a command: the rows that the decision relies on are locked until the commit. */
  readonly lock: boolean;
}

/** The resource that a request names, as far as the record of a refusal or a read knows it. */
export interface NamedResource<P, T> {
  /** The parameters of the path. A refusal may precede their validation. */
  readonly params: P;
  /** Undefined: it was not found, or not looked up. */
  readonly target: T | undefined;
  readonly principal: Principal;
}

/** The facts about a request besides its credential and its input. */
export interface RequestMetadata extends RequestFacts {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The media type that the client prefers among those that the operation answers. */
  readonly mediaType: string;
  /** The origin with which links to this service begin. */
  readonly linkOrigin: string;
  /** The address of the connection itself, regardless of proxy headers. */
  readonly socketAddress: string | null;
}

/** The input of every handler. `O` is the type of operations: a parameter, because the declarations of operations import this file. */
export interface Call<P, Q, B, T, O = unknown> {
  readonly em: Em;
  readonly principal: Principal;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly target: T;
  readonly services: Services;
  /** All operations, for handlers that describe operations. */
  readonly operations: readonly O[];
  readonly request: RequestMetadata;
}

export interface CommandCall<P, Q, B, T, R, O> extends Call<P, Q, B, T, O> {
  readonly tx: Transaction;
  /** The idempotency key, which is also the id of the workflow that the command starts; null if it takes no key. */
  readonly key: string | null;
  readonly prepared: R;
  /** The revision that `If-Match` demands. Undefined: any will do, or the header has set a member of the body. */
  readonly expectedRevision: number | undefined;
}

export interface ReadCall<P, Q, B, T, O> extends Call<P, Q, B, T, O> {
  /** The key of the command that the request asks about; empty for other reads. */
  readonly key: string;
}

/** The input of a command, with its target. */
export interface CommandInput<P, B, T> {
  readonly params: P;
  readonly body: B;
  readonly target: T;
}
