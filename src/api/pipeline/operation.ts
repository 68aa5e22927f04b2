import type { z } from 'zod';
import type { SessionCookie } from '#api/edge/cookies.ts';
import type { AdaptErrorAnswer } from '#api/edge/errors/error-answers.ts';
import type { FairLimit } from '#api/edge/limits/fair-limit.ts';
import type { Services } from '#api/services.ts';
import type { Access, Ownership, PublicAccess } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Command } from '#domain/shared/commands/command.ts';
import type { OwnerLevel } from '#domain/shared/ownership-graph/owners.ts';
import type {
  AnswerOf,
  CommandAnswer,
  HandlerResult,
  Responses,
  Schema,
  WithoutUnknownMembers,
} from './answers/answer-types.ts';
import type { RawAnswer } from './answers/raw-answer.ts';
import type {
  Call,
  CommandCall,
  CommandInput,
  NamedResource,
  ReadCall,
  RequestMetadata,
  TargetLookup,
} from './call.ts';
import type { LongPoll } from './long-answers/long-poll-declaration.ts';

type Out<S> = S extends Schema ? z.output<S> : undefined;

type ParamsOf<A> = A extends { readonly params?: infer P extends Schema } ? z.output<P> : never;

/** A public operation with a credential of its own instead of a principal's. */
export interface OperationCredential extends PublicAccess {
  /** Checks the credential before the body is read. @throws ServiceError if it is missing or wrong */
  readonly verifyCredential: (request: RequestMetadata, services: Services) => void;
  /** The name under which wrong credentials are counted, in addition to the address they came from. */
  readonly guessedAs: string;
}

/** The query parameters that name the owners of a list's items, by the level of the owner. */
export type OwnerParameters<Parameter extends string = string> = Readonly<Partial<Record<OwnerLevel, Parameter>>>;

interface Declaration<
  P extends Schema | undefined,
  Q extends Schema | undefined,
  B extends Schema | undefined,
  T,
  S extends Responses,
> {
  /** `area.verb`: the name in logs, metrics and the OpenAPI document. */
  readonly id: `${string}.${string}`;
  readonly route: `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`;
  readonly summary: string;
  readonly description?: string;
  /** The path of a page with more documentation. */
  readonly moreAbout?: string;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /**
   * The largest body in bytes, for bodies that are too large to parse, or in which every byte counts. The handler gets the bytes themselves
   * as a Buffer. `body` declares a Buffer and describes its content, and the operation validates it.
   */
  readonly exactBodyLimit?: number;
  /** The bodies of answers, by status. Of two successes, the second is for a resource that the command created. */
  readonly responses: S;
  /** The media types that a success may have besides JSON, each with a description of its content. */
  readonly produces?: Readonly<Record<string, string>>;
  readonly access: Access | PublicAccess | OperationCredential;
  /** Finds the target with its owner; undefined if it does not exist. */
  readonly target?: (lookup: TargetLookup<Out<P>, Out<Q>, Out<B>>) => Promise<(T & Ownership) | undefined>;
  /** The name of the target in errors: with `run`, a missing target answers "run was not found". */
  readonly targetName?: string;
  /** The access that this particular target requires instead of `access`, for example if the target is secret or is the caller's own. */
  readonly accessTo?: (target: T & Ownership, principal: Principal) => Access;
  /**
   * The access that callers need instead of `access` if this parameter of the path names the caller. It is known before the target is
   * looked up. Access reviews do not use it.
   */
  readonly ownAccess?: { readonly parameter: string; readonly access: Access };
  /** The audit's resource type, if it is not the first part of `id`. */
  readonly resource?: string;
  /**
   * The id of the resource in the records of refusals and reads. Undefined: the path parameter that follows the resource's
   * name, which is also the default. Null: the request names no such resource.
   */
  readonly resourceId?: (named: NamedResource<Out<P>, T>) => string | null | undefined;
  /** Changes answers to errors, for an operation whose specified errors differ from those of all others. */
  readonly adaptErrorAnswer?: AdaptErrorAnswer;
}

export interface ReadDeclaration<
  P extends Schema | undefined,
  Q extends Schema | undefined,
  T,
  B extends Schema | undefined,
  S extends Responses,
> extends Declaration<P, Q, B, T, S> {
  /** The audit's action, for reads that must leave a record: without the record there is no answer. */
  readonly audit?: string;
  /** The read answers 409 if a rule refuses what the read is about. */
  readonly mayConflict?: true;
  /** The query parameters that name the owners of a list's items, by the level of the owner. `readList` sets them. */
  readonly owners?: OwnerParameters;
  /** `required`: the read asks about a command by the command's key. `checked`: the key is optional, and a malformed one is refused. */
  readonly idempotency?: 'required' | 'checked';
  /**
   * For an answer that contains a different part of the whole for each caller: which part this caller gets. A long answer is cut off when
   * this part changes while the answer is sent.
   */
  readonly partShownTo?: (principal: Principal) => unknown;
  /** Whether a read with this query searches or compares so much that it must wait in the queue of costly reads. */
  readonly isCostly?: (query: Out<Q>) => boolean;
  /** A queue of its own, in which every call of this read waits, apart from other costly reads. */
  readonly turns?: FairLimit;
  /** Lets a request wait until its answer differs from what the client has. */
  readonly waits?: LongPoll<Call<Out<P>, Out<Q>, Out<B>, T, Operation>, Out<Q>>;
  readonly handle: (call: ReadCall<Out<P>, Out<Q>, Out<B>, T, Operation>) => Promise<AnswerOf<S> | RawAnswer>;
}

export interface CommandDeclaration<
  P extends Schema | undefined,
  Q extends Schema | undefined,
  B extends Schema | undefined,
  T,
  R,
  S extends Responses,
  A extends ReadOperation | undefined,
  D extends HandlerResult<S, A>,
> extends Declaration<P, Q, B, T, S> {
  /** The audit's action. */
  readonly audit: string;
  /** The read operation that shows the result. Its address is the `Location` of the answer, and it answers a repeated command. */
  readonly at?: A;
  /**
   * Builds the path parameters of that read if the id is not enough. Declare it after `handle`, because its type is inferred from `handle`.
   */
  readonly atParams?: (result: D, input: CommandInput<Out<P>, Out<B>, T>) => ParamsOf<A>;
  /**
   * How the command uses `If-Match` if its body has no `expected_revision`. True: the handler gets the revision as `expectedRevision`. A
   * name: the header sets this member of the body, because it compares the revision of something else than `at` reads.
   */
  readonly ifMatch?: true | `expected_${string}_revision`;
  /** `required`; `optional`: a missing key is replaced by a new one, because the key is the id of the workflow; `none`: no receipt. */
  readonly idempotency: 'required' | 'optional' | 'none';
  /**
   * The command, and every repetition of it, answers its receipt: the id, the revision, the audit record, and the `members` that the
   * handler returns.
   */
  readonly answersReceipt?: true;
  /**
   * The answer contains something that no later read shows, such as a new key. A form that is submitted again is refused, and explains that.
   */
  readonly showsOnce?: true;
  /** Advisory locks, taken before every other lock. A function derives them from the path and the caller. */
  readonly locks?: readonly string[] | ((input: { params: Out<P>; principal: Principal }) => readonly string[]);
  /**
   * Does slow work (hashing, git) before the transaction. The caller is authorized before it, and again in the transaction. It also
   * receives the command, for a preparation that lets a workflow carry the command out: the transaction then finds the receipt.
   */
  readonly prepare?: (call: Call<Out<P>, Out<Q>, Out<B>, T, Operation>, command: Command) => Promise<R>;
  /** `prepare` returns only after something else has committed the command, so a failure after `prepare` leaves the outcome unknown. */
  readonly isCarriedOutByPreparation?: true;
  /**
   * For a command whose request contains a secret (a password, a token): names the account whose secret a caller may be guessing. Attempts
   * that end in `Unauthenticated` or `WrongSecret` are counted by account and by address.
   */
  readonly limitGuesses?: (input: { readonly body: Out<B>; readonly principal: Principal }) => string;
  readonly handle: (call: CommandCall<Out<P>, Out<Q>, Out<B>, T, R, Operation>) => Promise<D>;
  /** The session cookie to send with the first answer: null clears it, undefined leaves it as it is. */
  readonly sessionCookie?: (
    answer: AnswerOf<S>,
    input: { readonly params: Out<P>; readonly principal: Principal },
  ) => SessionCookie | undefined;
}

// The pipeline handles operations of all types in one list. An operation's functions always get what the operation's own schemas parsed.
// biome-ignore lint/suspicious/noExplicitAny: the one place where the types of single operations are erased
export type Erased = any;
type ErasedRead = ReadDeclaration<Erased, Erased, Erased, Erased, Responses>;
type ErasedCommand = CommandDeclaration<Erased, Erased, Erased, Erased, Erased, Responses, undefined, Erased>;

export interface ReadOperation<S extends Responses = Responses, P = Erased, Answer = unknown>
  extends Omit<ErasedRead, 'responses' | 'params' | 'handle'> {
  readonly kind: 'read';
  readonly responses: S;
  readonly params?: P;
  readonly handle: (call: Erased) => Promise<Answer | RawAnswer>;
}

export interface CommandOperation<
  S extends Responses = Responses,
  D = CommandAnswer<unknown>,
  A = ReadOperation | undefined,
> extends Omit<ErasedCommand, 'responses' | 'at' | 'atParams' | 'handle' | 'sessionCookie'> {
  readonly kind: 'command';
  readonly responses: S;
  readonly at?: A;
  atParams?(result: D, input: Erased): Erased;
  readonly handle: (call: Erased) => Promise<D>;
  readonly sessionCookie?: (
    answer: Erased,
    input: { readonly params: Erased; readonly principal: Principal },
  ) => SessionCookie | undefined;
}

export type Operation = ReadOperation | CommandOperation;

/** Declares an operation that changes nothing, even if it takes a body. Its type keeps its answers. */
export function read<
  P extends Schema | undefined = undefined,
  Q extends Schema | undefined = undefined,
  T = undefined,
  B extends Schema | undefined = undefined,
  S extends Responses = Responses,
>(declaration: ReadDeclaration<P, Q, T, B, S>): ReadOperation<S, P, AnswerOf<S>> {
  return { kind: 'read', ...declaration };
}

/** Declares an operation that changes something: it runs in the one command transaction and leaves an audit record. */
export function command<
  P extends Schema | undefined = undefined,
  Q extends Schema | undefined = undefined,
  B extends Schema | undefined = undefined,
  T = undefined,
  R = undefined,
  S extends Responses = Responses,
  A extends ReadOperation | undefined = undefined,
  D extends HandlerResult<S, A> = HandlerResult<S, A>,
>(declaration: CommandDeclaration<P, Q, B, T, R, S, A, D> & WithoutUnknownMembers<D>): CommandOperation<S, D, A> {
  return { kind: 'command', ...declaration };
}

/** The method and the path of an operation, as the router takes them. */
export function routeOf(operation: Operation): { method: string; path: `/${string}` } {
  const [method, path] = operation.route.split(' ') as [string, `/${string}`];
  return { method, path };
}

export function isPublic(access: Operation['access']): access is PublicAccess {
  return 'public' in access;
}
