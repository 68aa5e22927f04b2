import type { RuleCode } from '#domain/error-codes.ts';

/**
 * A kind of work that runs in threads, because its duration depends on input from outside the service. An area declares its kinds with
 * `defineWork`, and `src/domain/evaluation-work.ts` lists them.
 */
export interface Work<Input, Result, Prepared = undefined> {
  /** Names the kind among all others. */
  readonly kind: string;
  /** The processor time that `answer` may use. Null: the work itself limits its parts. */
  readonly limitMs: number | null;
  /** The refusal of work that took too long. The message says how to make it shorter. */
  readonly tooCostly: { readonly code: RuleCode; readonly message: string };
  /** The member of the input that a thread remembers; its value is an object. It is sent only to a thread that does not know it yet. */
  readonly remembers?: Input extends object ? keyof Input : never;
  /** Loads what the answer needs. It does not count against the limit. */
  readonly prepare?: () => Promise<Prepared>;
  /** @throws TimeLimitExceeded */
  readonly answer: (input: Input, prepared: Prepared) => Result;
}

/** Work of any kind, as a thread finds it by its name. */
export type AnyWork = Pick<Work<never, unknown, never>, 'kind' | 'limitMs' | 'tooCostly' | 'answer'> & {
  readonly remembers?: PropertyKey;
  readonly prepare?: () => Promise<unknown>;
};

export function defineWork<Input, Result, Prepared = undefined>(
  work: Work<Input, Result, Prepared>,
): Work<Input, Result, Prepared> {
  return work;
}
