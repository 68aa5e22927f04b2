import { defineWork } from '#domain/shared/evaluation/work.ts';
import type { JsonObject } from '#domain/shared/values/json.ts';
import { checkSchema } from '../variables/check.ts';
import { type ValidationResult, type VariableValues, validateVariables } from '../variables/variables.ts';

/** Work on the schemas of templates, which runs in threads because the authors of templates decide how long it takes. */

const tooCostly = {
  code: 'schema_too_costly',
  message:
    'the schema of the template took too long to evaluate: simplify its references, alternatives and patterns, or send fewer values',
} as const;

export const checkWork = defineWork({
  kind: 'check_schema',
  limitMs: null,
  tooCostly,
  answer: (schema: JsonObject) => checkSchema(schema),
});

interface ValidationInput {
  readonly schema: JsonObject;
  readonly values: VariableValues;
  readonly secrets: readonly string[];
}

export const validationWork = defineWork({
  kind: 'validate_variables',
  limitMs: null,
  tooCostly,
  // A thread keeps the compiled form with the schema.
  remembers: 'schema',
  answer: ({ schema, values, secrets }: ValidationInput) => validateVariables(schema, values, secrets),
});

interface SeveralInputs {
  readonly schema: JsonObject;
  readonly inputs: readonly VariableValues[];
}

/** A thread that has used this much processor time takes no further input, so that it is soon free for other tasks. */
const maxMicroseconds = 250_000;

/** Validates the first of several inputs, and further ones as long as the thread has processor time. */
export const severalValidationsWork = defineWork({
  kind: 'validate_several',
  limitMs: null,
  tooCostly,
  remembers: 'schema',
  answer: ({ schema, inputs }: SeveralInputs) => validateFirst(schema, inputs),
});

function validateFirst(schema: JsonObject, inputs: readonly VariableValues[]): ValidationResult[] {
  const before = process.threadCpuUsage();
  const results: ValidationResult[] = [];
  for (const values of inputs) {
    results.push(validateVariables(schema, values));
    const { user, system } = process.threadCpuUsage(before);
    if (user + system > maxMicroseconds) break;
  }
  return results;
}

export const schemaWork = [checkWork, validationWork, severalValidationsWork];
