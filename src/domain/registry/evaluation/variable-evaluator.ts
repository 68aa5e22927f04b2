import type { Evaluator } from '#domain/shared/evaluation/evaluator.ts';
import { isCheap } from '../variables/cost.ts';
import type { JsonObject } from '../variables/engine.ts';
import type { VariableError } from '../variables/errors.ts';
import { validateExactly } from '../variables/exact-numbers.ts';
import { type ValidationResult, type VariableValues, validateVariables } from '../variables/variables.ts';
import { checkWork, validationWork } from './work.ts';

/** Evaluates the schemas of template authors on behalf of a principal. All functions throw what `Evaluator.run` throws. */
export class VariableEvaluator {
  readonly #evaluator: Evaluator;
  readonly #principalId: string;

  constructor(evaluator: Evaluator, principalId: string) {
    this.#evaluator = evaluator;
    this.#principalId = principalId;
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
        : this.#evaluator.run(this.#principalId, validationWork, { schema, values: exact, secrets }),
    );
  }

  /** `checkSchema` */
  check(schema: JsonObject): Promise<VariableError[]> {
    return this.#evaluator.run(this.#principalId, checkWork, schema);
  }
}
