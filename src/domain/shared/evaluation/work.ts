import type { RuleCode } from '#domain/error-codes.ts';

/**
 * A kind of work that threads do, because somebody outside of the service decides how long it takes. An area declares its kinds with
 * `defineWork`, and `src/domain/evaluation-work.ts` lists them.
 */
export interface Work<Input, Result, Prepared = undefined> {
  /** Names the kind among all others. */
  readonly kind: string;
  /** The processor time that `answer` may use. Null: it limits its parts by itself. */
  readonly limitMs: number | null;
  /** How work that took too long is refused. The message says how it takes less time. */
  readonly tooCostly: { readonly code: RuleCode; readonly message: string };
  /** The member of the input, an object, that a thread remembers. It is sent only to a thread that does not know it yet. */
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
