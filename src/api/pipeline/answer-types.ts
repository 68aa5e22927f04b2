import type { z } from 'zod';
import type { Change } from '#domain/shared/audit.ts';

export type Shape = z.ZodType;

/** What an operation answers, by status. */
export type Responses = Readonly<Record<number, Shape>>;

/** The same value, read-only: the pipeline shows what a handler answers and never changes it. */
type Shown<T> = T extends Date | null | undefined | string | number | boolean
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Shown<Item>[]
    : T extends object
      ? { readonly [Name in keyof T]: Shown<T[Name]> }
      : T;

/** What a success shows, as a handler makes it: codecs encode it on its way out. */
export type AnswerOf<S extends Responses> = {
  [Status in keyof S & number]: `${Status}` extends `2${string}` ? Shown<z.output<S[Status]>> : never;
}[keyof S & number];

/** What a command did, with what the request that did it is answered. */
export interface CommandAnswer<Answer> extends Change {
  /**
   * Shown by the first answer and never kept, so that it may hold what is shown once (a new key, a link). Left out: the read
   * operation `at` shows what the command left.
   */
  readonly answer?: Answer | Promise<Answer>;
  /** False: the thing was there already, which the first of two declared successes says. */
  readonly isNew?: boolean;
}

/** What the handler of a command returns, by its declared successes and the read operation that shows what it left. */
export type Done<S extends Responses, A> = [AnswerOf<S>] extends [undefined]
  ? Change & { readonly answer?: never }
  : A extends { readonly responses: infer Shows extends Responses }
    ? [AnswerOf<Shows>] extends [AnswerOf<S>]
      ? CommandAnswer<AnswerOf<S>>
      : Answering<S>
    : Answering<S>;

/** Refuses a change with a member that nothing reads, such as a misspelled one. */
export type Spelled<D> = [Exclude<keyof D, keyof CommandAnswer<unknown>>] extends [never]
  ? unknown
  : { readonly handle: { readonly unknown: Exclude<keyof D, keyof CommandAnswer<unknown>> } };

/** Nothing else shows what the command answers. */
type Answering<S extends Responses> = CommandAnswer<AnswerOf<S>> & Required<Pick<CommandAnswer<AnswerOf<S>>, 'answer'>>;
