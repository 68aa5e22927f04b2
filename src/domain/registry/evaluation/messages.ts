import type { AssemblyEvaluations } from '#domain/assemblies/evaluation/tasks.ts';
import type { JsonObject } from '../variables/engine.ts';
import type { VariableError } from '../variables/errors.ts';
import type { ValidationResult, VariableValues } from '../variables/variables.ts';

/** What the main thread and an evaluation thread send each other. */

/** The work of a thread, with the type of its result. */
export interface Evaluations extends AssemblyEvaluations {
  readonly check: { readonly task: { readonly schema: JsonObject }; readonly result: VariableError[] };
  readonly validate: {
    /** A thread remembers the schemas that it was sent, by digest, so that most messages are small. */
    readonly task: { readonly digest: string; readonly input: VariableValues; readonly secrets: readonly string[] };
    readonly result: ValidationResult;
  };
}

export type Kind = keyof Evaluations;
export type Task = { readonly [K in Kind]: { readonly kind: K } & Evaluations[K]['task'] }[Kind];

/** `schema` goes along the first time that a thread meets its digest. */
export type Message = { readonly task: Task; readonly schema: JsonObject | null };

export type Reply =
  | { readonly outcome: 'done'; readonly result: Evaluations[Kind]['result']; readonly usedMs: number }
  | { readonly outcome: 'schema_missing' }
  | { readonly outcome: 'too_costly'; readonly usedMs: number }
  | { readonly outcome: 'failed'; readonly reason: string; readonly usedMs: number };
