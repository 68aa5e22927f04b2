import type { Evaluator } from '#domain/shared/evaluation/evaluator.ts';
import type { LimitSubject } from '#domain/shared/tasks/limit-subject.ts';
import { isCheap } from '../variables/cost.ts';
import type { JsonObject } from '../variables/engine.ts';
import type { VariableError } from '../variables/errors.ts';
import { validateExactly } from '../variables/exact-numbers.ts';
import { type ValidationResult, type VariableValues, validateVariables } from '../variables/variables.ts';
import { checkWork, validationWork } from './work.ts';

/** Evaluates the schemas of template authors on behalf of a subject. All functions throw what `Evaluator.run` throws. */
export class VariableEvaluator {
  readonly #evaluator: Evaluator;
  readonly #subject: LimitSubject;

  constructor(evaluator: Evaluator, subject: LimitSubject) {
    this.#evaluator = evaluator;
    this.#subject = subject;
  }

  /** `validateVariables`. The main thread does cheap evaluations at once. */
  async validate(
    schema: JsonObject,
    values: VariableValues,
    secrets: readonly string[] = [],
  ): Promise<ValidationResult> {
    return validateExactly(schema, values, (exact) =>
      isCheap(schema, exact)
        ? validateVariables(schema, exact, secrets)
        : this.#evaluator.run(this.#subject, validationWork, { schema, values: exact, secrets }),
    );
  }

  /** `checkSchema` */
  check(schema: JsonObject): Promise<VariableError[]> {
    return this.#evaluator.run(this.#subject, checkWork, schema);
  }
}
