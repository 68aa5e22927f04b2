import type { z } from 'zod';
import type { CommandChange } from '#domain/shared/audit.ts';

export type Schema = z.ZodType;

/** The schemas of an operation's answers, by status. */
export type Responses = Readonly<Record<number, Schema>>;

/** The same value, read-only: the pipeline never changes what a handler returns. */
type DeepReadonly<T> = T extends Date | null | undefined | string | number | boolean
  ? T
  : T extends readonly (infer Item)[]
    ? readonly DeepReadonly<Item>[]
    : T extends object
      ? { readonly [Name in keyof T]: DeepReadonly<T[Name]> }
      : T;

type IsSuccess<Status extends number> = `${Status}` extends `2${string}` ? true : false;

/**
 * The body of a success as a handler returns it, which the schema's codecs encode when it is sent. Unknown if the type of the operation is
 * not known.
 */
export type AnswerOf<S extends Responses> = number extends keyof S
  ? unknown
  : {
      [Status in keyof S & number]: IsSuccess<Status> extends true ? DeepReadonly<z.output<S[Status]>> : never;
    }[keyof S & number];

/** The body of a success as a client receives it. */
export type EncodedAnswerOf<S extends Responses> = number extends keyof S
  ? unknown
  : {
      [Status in keyof S & number]: IsSuccess<Status> extends true ? z.input<S[Status]> : never;
    }[keyof S & number];

/** A command's change, and how the request that made it is answered. */
export interface CommandAnswer<Answer> extends CommandChange {
  /**
   * The body of the first answer. It is never stored, so it may contain what is shown only once (a new key, a link). Without it, the read
   * operation `at` shows the result.
   */
  readonly answer?: Answer | Promise<Answer>;
  /** For a command that answers its receipt: what the receipt contains besides the id, the revision and the audit record. */
  readonly members?: Readonly<Record<string, string | number>>;
  /** False if the resource existed already: the answer is then the first of two declared successes. */
  readonly isNew?: boolean;
}

/** The type that the handler of a command returns. It depends on the declared successes and on the read operation that shows the result. */
export type HandlerResult<S extends Responses, A> = [AnswerOf<S>] extends [undefined]
  ? CommandChange & { readonly answer?: never }
  : [AnswerOf<S>] extends [{ readonly audit_record_id: string; readonly receipt?: never }]
    ? ReceiptResult<AnswerOf<S>>
    : A extends { readonly responses: infer ReadResponses extends Responses }
      ? [AnswerOf<ReadResponses>] extends [AnswerOf<S>]
        ? CommandAnswer<AnswerOf<S>>
        : WithAnswer<S>
      : WithAnswer<S>;

/** Only the pipeline knows the audit record of a command, so it makes the answers that name it. */
type ReceiptResult<Answer> = CommandChange & {
  readonly answer?: never;
  readonly members?: Readonly<Record<string, string | number>> &
    Partial<Omit<Answer, 'id' | 'revision' | 'audit_record_id'>>;
};

/** Rejects a result with a member that the pipeline does not use, such as a misspelled one. */
export type WithoutUnknownMembers<R> = [Exclude<keyof R, keyof CommandAnswer<unknown>>] extends [never]
  ? unknown
  : { readonly handle: { readonly unknown: Exclude<keyof R, keyof CommandAnswer<unknown>> } };

/** The answer is required, because no read operation shows the same. */
type WithAnswer<S extends Responses> = CommandAnswer<AnswerOf<S>> &
  Required<Pick<CommandAnswer<AnswerOf<S>>, 'answer'>>;
