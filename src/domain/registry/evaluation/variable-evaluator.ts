import type { Evaluator } from '#domain/shared/evaluation/evaluator.ts';
import type { LimitSubject } from '#domain/shared/tasks/limit-subject.ts';
import { hasDecimal, type JsonObject } from '#domain/shared/values/json.ts';
import { isCheap } from '../variables/cost.ts';
import type { VariableError } from '../variables/errors.ts';
import { validateExactly } from '../variables/exact-numbers.ts';
import { type ValidationResult, type VariableValues, validateVariables } from '../variables/variables.ts';
import { checkWork, severalValidationsWork, validationWork } from './work.ts';

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

  /**
   * `validateVariables` of each input, in their order. A thread gets many inputs at once, because on a busy machine a transfer to a thread
   * takes longer than a validation.
   */
  async validateEach(schema: JsonObject, inputs: readonly VariableValues[]): Promise<ValidationResult[]> {
    const found = new Map<VariableValues, ValidationResult>();
    let left = inputs.filter((values) => !hasDecimal(values) && !isCheap(schema, values));
    while (left.length > 0) {
      const first = await this.#evaluator.run(this.#subject, severalValidationsWork, { schema, inputs: left });
      for (const [index, values] of left.slice(0, first.length).entries())
        found.set(values, first[index] as ValidationResult);
      left = left.slice(first.length);
    }
    const results: ValidationResult[] = [];
    for (const values of inputs) results.push(found.get(values) ?? (await this.validate(schema, values)));
    return results;
  }

  /** `checkSchema` */
  check(schema: JsonObject): Promise<VariableError[]> {
    return this.#evaluator.run(this.#subject, checkWork, schema);
  }
}
