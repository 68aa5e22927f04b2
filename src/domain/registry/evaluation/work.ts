import { defineWork } from '#domain/shared/evaluation/work.ts';
import { checkSchema } from '../variables/check.ts';
import type { JsonObject } from '../variables/engine.ts';
import { type VariableValues, validateVariables } from '../variables/variables.ts';

/** What threads do with the schemas of templates: their authors decide how long it takes. */

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

export const schemaWork = [checkWork, validationWork];
