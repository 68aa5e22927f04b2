import type { z } from 'zod';
import type { Services } from '#api/services.ts';
import type { Em } from '#database/database.ts';
import type { Access, Ownership, PublicAccess } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { RequestFacts } from '#domain/shared/audit.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import type { AnswerOf, CommandAnswer, Done, Responses, Shape, Spelled } from './answer-types.ts';
import type { RawAnswer } from './raw-answer.ts';

type Out<S> = S extends Shape ? z.output<S> : undefined;

/** What a target resolver is given: the parts of the request by which it finds the thing, and whether to lock it. */
export interface Lookup<P, Q, B> {
  readonly em: Em;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** Who asks; what they may do is not decided by it, but by the transaction's own look at them. */
  readonly callerId: string;
  /** Inside a command: the rows that the decision relies on are locked until the commit. */
  readonly lock: boolean;
}

/** What is known of whoever sends a request, beside its credential. */
export interface Sender extends RequestFacts {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The peer of the connection itself, whatever a proxy says. */
  readonly socketAddress: string | null;
}

/** What every handler is given. */
export interface Call<P, Q, B, T> {
  readonly em: Em;
  readonly principal: Principal;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly target: T;
  readonly services: Services;
  /** All there are, for what speaks about them. */
  readonly operations: readonly Operation[];
  readonly request: Sender;
}

export interface CommandCall<P, Q, B, T, R> extends Call<P, Q, B, T> {
  readonly tx: Transaction;
  /** The command's key, and so the id of the workflow that it starts; null where the operation takes none. */
  readonly key: string | null;
  readonly prepared: R;
}

interface Declaration<
  P extends Shape | undefined,
  Q extends Shape | undefined,
  B extends Shape | undefined,
  T,
  S extends Responses,
> {
  /** `area.verb`; what logs, metrics and the OpenAPI document call it. */
  readonly id: `${string}.${string}`;
  readonly route: `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`;
  readonly summary: string;
  readonly description?: string;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** The bodies of answers, by status. An operation with two successes gives the second one where it made something new. */
  readonly responses: S;
  readonly access: Access | PublicAccess;
  /** What a public operation asks of whoever calls it, before the body is read; throws where they may not. */
  readonly guard?: (request: Sender, services: Services) => void;
  /** Finds what the operation is about, with its owner; undefined where there is no such thing. */
  readonly target?: (lookup: Lookup<Out<P>, Out<Q>, Out<B>>) => Promise<(T & Ownership) | undefined>;
  /** What a missing target is called: `run` answers "run was not found". */
  readonly targetName?: string;
  /** The code of its malformed requests, which are then answered `{ error: { code, message } }` (400). */
  readonly malformedCode?: string;
  /** What is answered where its caller cannot be told for lack of the database: 503, unless it says otherwise. */
  readonly unknownCaller?: 500;
  /** What this very target demands instead of `access`: one's own, a secret, something that belongs to nobody. */
  readonly accessTo?: (target: T & Ownership, principal: Principal) => Access;
  /** What the audit calls the kind of thing that it is about, where that is not the first part of `id`. */
  readonly resource?: string;
}

export interface ReadCall<P, Q, B, T> extends Call<P, Q, B, T> {
  /** The key of the command that it asks about; empty where it asks about none. */
  readonly key: string;
}

export interface ReadDeclaration<
  P extends Shape | undefined,
  Q extends Shape | undefined,
  T,
  B extends Shape | undefined,
  S extends Responses,
> extends Declaration<P, Q, B, T, S> {
  /** The action in the audit's catalogue, for what is not to leave the service unnoticed: no row, no answer. */
  readonly audit?: string;
  /** It asks about a command, by that command's key. */
  readonly idempotency?: 'required';
  readonly handle: (call: ReadCall<Out<P>, Out<Q>, Out<B>, T>) => Promise<AnswerOf<S> | RawAnswer>;
}

export interface CommandDeclaration<
  P extends Shape | undefined,
  Q extends Shape | undefined,
  B extends Shape | undefined,
  T,
  R,
  S extends Responses,
  A extends ReadOperation | undefined,
  D extends Done<S, A>,
> extends Declaration<P, Q, B, T, S> {
  /** The action in the audit's catalogue. */
  readonly audit: string;
  /** The read operation that shows what the command left: the answer's `Location`, and the answer to a repeat. */
  readonly at?: A;
  /** Makes the parameters of that read's path where the id alone is not enough. Declare it after `handle`: its type follows from there. */
  readonly atParams?: (change: D, asked: Asked<Out<P>, Out<B>, T>) => ParamsOf<A>;
  /** `required`, `optional` (one is made where none is sent): the key names the work. `none`: no receipt. */
  readonly idempotency: 'required' | 'optional' | 'none';
  /** Advisory locks, taken before anything else; where what they are about is asked for, by what was asked. */
  readonly locks?: readonly string[] | ((asked: { params: Out<P>; principal: Principal }) => readonly string[]);
  /** Slow work before the transaction (hashing, git): decided once before it, and again inside the transaction. */
  readonly prepare?: (call: Call<Out<P>, Out<Q>, Out<B>, T>) => Promise<R>;
  /**
   * The request holds a secret (a password, a token): what a guess at it would be aimed at. Wrong ones, those that end in
   * `Unauthenticated` or `WrongSecret`, are counted by it and by address. Where there is a `guard`, that is what is guessed
   * at, before there is a body; else the whole command.
   */
  readonly limitGuesses?: (asked: { readonly body: Out<B>; readonly principal: Principal }) => string;
  readonly handle: (call: CommandCall<Out<P>, Out<Q>, Out<B>, T, R>) => Promise<D>;
  /** The session cookie that goes with the first answer: a token to set, null to clear it, undefined to leave it. */
  readonly sessionCookie?: (
    answer: AnswerOf<S>,
    asked: { readonly params: Out<P>; readonly principal: Principal },
  ) => { token: string; maxAgeSeconds: number } | null | undefined;
}

/** What was asked for, and of what. */
export interface Asked<P, B, T> {
  readonly params: P;
  readonly body: B;
  readonly target: T;
}

type ParamsOf<A> = A extends { readonly params?: infer P extends Shape } ? z.output<P> : never;

// Inside the pipeline an operation's own types are gone: what was parsed by its schemas is what its functions get.
// biome-ignore lint/suspicious/noExplicitAny: the one place where declarations of all types stand in one list
export type Erased = any;
type ErasedRead = ReadDeclaration<Erased, Erased, Erased, Erased, Responses>;
type ErasedCommand = CommandDeclaration<Erased, Erased, Erased, Erased, Erased, Responses, undefined, Erased>;

export interface ReadOperation<S extends Responses = Responses, P = Erased>
  extends Omit<ErasedRead, 'responses' | 'params' | 'handle'> {
  readonly kind: 'read';
  readonly responses: S;
  readonly params?: P;
  readonly handle: (call: Erased) => Promise<unknown>;
}

export interface CommandOperation<
  S extends Responses = Responses,
  D = CommandAnswer<unknown>,
  A = ReadOperation | undefined,
> extends Omit<ErasedCommand, 'responses' | 'at' | 'atParams' | 'handle' | 'sessionCookie'> {
  readonly kind: 'command';
  readonly responses: S;
  readonly at?: A;
  atParams?(change: D, asked: Erased): Erased;
  readonly handle: (call: Erased) => Promise<D>;
  readonly sessionCookie?: (
    answer: Erased,
    asked: { readonly params: Erased; readonly principal: Principal },
  ) => { token: string; maxAgeSeconds: number } | null | undefined;
}

export type Operation = ReadOperation | CommandOperation;

/** Declares an operation that changes nothing; one that takes a body only looks at it. Its type keeps what it answers. */
export function read<
  P extends Shape | undefined = undefined,
  Q extends Shape | undefined = undefined,
  T = undefined,
  B extends Shape | undefined = undefined,
  S extends Responses = Responses,
>(declaration: ReadDeclaration<P, Q, T, B, S>): ReadOperation<S, P> {
  return { kind: 'read', ...declaration };
}

/** Declares an operation that changes something: it runs inside the one command transaction and leaves an audit row. */
export function command<
  P extends Shape | undefined = undefined,
  Q extends Shape | undefined = undefined,
  B extends Shape | undefined = undefined,
  T = undefined,
  R = undefined,
  S extends Responses = Responses,
  A extends ReadOperation | undefined = undefined,
  D extends Done<S, A> = Done<S, A>,
>(declaration: CommandDeclaration<P, Q, B, T, R, S, A, D> & Spelled<D>): CommandOperation<S, D, A> {
  return { kind: 'command', ...declaration };
}

/** The method and the path of an operation, as the router takes them. */
export function routeOf(operation: Operation): { method: string; path: string } {
  const [method, path] = operation.route.split(' ') as [string, string];
  return { method, path };
}

export function isPublic(access: Access | PublicAccess): access is PublicAccess {
  return 'public' in access;
}
