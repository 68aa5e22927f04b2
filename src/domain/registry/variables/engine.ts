import { Ajv2020, type AnySchemaObject, type ErrorObject, type Options } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { RE2JS } from 're2js';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import { runWithin } from '#domain/shared/evaluation/time-limit.ts';
import type { JsonObject } from '#domain/shared/values/json.ts';

/** Compiles JSON Schema. The caller must limit the time of an evaluation that is not cheap (`isCheap`). */

export type Schema = boolean | JsonObject;

const millisecondsToCompile = 1_000;
const millisecondsToCheck = 500;

/** The supported formats, each with an example for messages. */
export const formats = {
  date: '2030-05-31',
  time: '13:45:00Z',
  'date-time': '2030-05-31T13:45:00Z',
  duration: 'P1DT12H',
  email: 'ana@example.com',
  hostname: 'db.example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/path',
  'uri-reference': '/path',
  uuid: '019aa5c2-7d31-7cc4-9c55-0d6a1f6c8b11',
  'json-pointer': '/a/0',
  regex: '^[a-z]+$',
} as const;

/**
 * The maximum length of a text with a format, since the time of some checks grows with the square of the length. No valid text of these
 * formats is longer.
 */
const maxFormatted = 2_048;

/**
 * Compiles a pattern for RE2, whose time grows linearly with the length of the text.
 * @throws Error with RE2's message if the pattern is invalid or needs what RE2 lacks: look-around, back-references
 */
export function compilePattern(pattern: string): { test: (text: string) => boolean } {
  const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
  return { test: (text) => compiled.matcher(text).find() };
}

const linearRegExp = Object.assign((pattern: string) => compilePattern(pattern), { code: 'linearRegExp' });

const options: Options = {
  allErrors: true,
  // `verbose` adds the broken schema to each error, because the schema may contain its own messages.
  verbose: true,
  // `checkSchema` reports unknown keywords, formats and patterns with their paths.
  strict: false,
  logger: false,
  meta: false,
  validateSchema: false,
  addUsedSchema: false,
  inlineRefs: false,
  useDefaults: true,
  // Only own properties count, so that a variable named `constructor` is not found on every object.
  ownProperties: true,
  multipleOfPrecision: 9,
  code: { regExp: linearRegExp },
};

export type Evaluate = (data: unknown) => readonly ErrorObject[];

/** The schema is valid by the meta-schema and still cannot be compiled, such as one with an empty `enum`. */
export class SchemaUnusable extends Error {}

/**
 * Compiles a schema to a function that returns all errors of a value and fills in its defaults in place.
 * @throws TimeLimitExceeded; SchemaUnusable with Ajv's message
 */
export function compileSchema(schema: Schema): Evaluate {
  const validate = runWithin(millisecondsToCompile, () => compileByAjv(schema));
  return (data) => {
    validate(data);
    return validate.errors ?? [];
  };
}

function compileByAjv(schema: Schema) {
  const ajv = createAjv();
  try {
    return ajv.compile(withoutDialect(schema));
  } catch (error) {
    throw new SchemaUnusable(error instanceof Error ? error.message.slice(0, 200) : 'unknown');
  }
}

let metaSchema: ReturnType<Ajv2020['getSchema']>;

/** The errors of a schema according to the meta-schema of JSON Schema 2020-12. */
export function evaluateMetaSchema(schema: unknown): readonly ErrorObject[] {
  metaSchema ??= new Ajv2020({ allErrors: true, strict: false }).getSchema(
    'https://json-schema.org/draft/2020-12/schema',
  );
  const validate = metaSchema;
  if (validate === undefined) throw new Error('Ajv has no schema for JSON Schema 2020-12');
  return runWithin(millisecondsToCheck, () => {
    validate(schema);
    return validate.errors ?? [];
  });
}

const compiled = new WeakMap<JsonObject, Evaluate>();

/**
 * Compiles the schema of all variables, and refuses other variables. The result is cached by the schema object, which is the same for each
 * use of a published version.
 */
export function compileVariables(schema: JsonObject): Evaluate {
  const evaluate = compiled.get(schema) ?? compileSchema({ ...schema, additionalProperties: false });
  compiled.set(schema, evaluate);
  return evaluate;
}

/** Each schema gets its own Ajv, because an instance never forgets a schema that it has compiled. */
function createAjv(): Ajv2020 {
  const ajv = new Ajv2020(options);
  for (const name of Object.keys(formats)) ajv.addFormat(name, { type: 'string', validate: checkerOf(name) });
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must not hold the same item twice' },
    validate: (isUnique: boolean, items: unknown[]) =>
      !isUnique || new Set(items.map(canonicalJson)).size === items.length,
  });
  return ajv;
}

function checkerOf(name: string): (text: string) => boolean {
  const check = name === 'regex' ? isPattern : matcherOf(name);
  return (text) => text.length <= maxFormatted && check(text);
}

function matcherOf(name: string): (text: string) => boolean {
  const format = Object.entries(fullFormats).find(([known]) => known === name)?.[1];
  const check = typeof format === 'object' && 'validate' in format ? format.validate : format;
  if (check instanceof RegExp) return (text) => check.test(text);
  if (typeof check === 'function') return (text) => Reflect.apply(check, undefined, [text]) === true;
  throw new Error(`no checker for the format ${name}`);
}

function isPattern(text: string): boolean {
  try {
    compilePattern(text);
    return true;
  } catch {
    return false;
  }
}

function withoutDialect(schema: Schema): AnySchemaObject | boolean {
  if (typeof schema === 'boolean') return schema;
  const { $schema: _dialect, ...rest } = schema;
  return rest;
}
