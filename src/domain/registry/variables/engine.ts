import { createHash } from 'node:crypto';
import { Ajv2020, type AnySchemaObject, type ErrorObject, type Options } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { RE2JS } from 're2js';
import type { JsonValue } from '#domain/runs/model.ts';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import { isLargerThan } from './json-size.ts';
import { runWithin } from './time-limit.ts';

/** How JSON Schema is compiled and evaluated here, so that neither a schema nor an input can hold up the process. */

export type JsonObject = { [key: string]: JsonValue };
export type Schema = boolean | JsonObject;

const millisecondsToCompile = 1_000;
const millisecondsToValidate = 500;

/** The formats that are checked, each with an example for messages. */
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

export type FormatName = keyof typeof formats;

/** Some formats cost the square of a text's length; nothing that has one of these formats is longer. */
const longestFormatted = 2_048;

/**
 * A pattern in an engine whose time grows with the length of the text alone (RE2).
 * @throws Error with RE2's words where the pattern needs what that engine cannot do: look-around, back-references
 */
export function compilePattern(pattern: string): { test: (text: string) => boolean } {
  const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
  return { test: (text) => compiled.matcher(text).find() };
}

const linearRegExp = Object.assign((pattern: string) => compilePattern(pattern), { code: 'linearRegExp' });

const options: Options = {
  allErrors: true,
  // Unknown keywords, formats and patterns were reported, with their paths, by `checkSchema`.
  strict: false,
  logger: false,
  meta: false,
  validateSchema: false,
  addUsedSchema: false,
  inlineRefs: false,
  useDefaults: true,
  // A variable called `constructor` is not there just because every object inherits one.
  ownProperties: true,
  multipleOfPrecision: 9,
  code: { regExp: linearRegExp },
};

export type Evaluate = (data: unknown) => readonly ErrorObject[];

/** A schema that is right by the rules of JSON Schema and still none, such as one with an empty `enum`. */
export class SchemaUnusable extends Error {}

/**
 * A schema as a function that gives all errors of a value and fills in defaults in place.
 * @throws TookTooLong; SchemaUnusable with Ajv's words
 */
export function compileSchema(schema: Schema): Evaluate {
  const validate = runWithin(millisecondsToCompile, () => compileByAjv(schema));
  const evaluate: Evaluate = (data) => {
    validate(data);
    return validate.errors ?? [];
  };
  const isCheap = isCheapSchema(schema);
  return (data) =>
    isCheap && !isLargerThan(data, cheap) ? evaluate(data) : runWithin(millisecondsToValidate, () => evaluate(data));
}

/** A clock costs more than checking a few values, and every run is checked. */
const cheap = { values: 500, depth: 32, bytes: 16 * 1024 };

/**
 * Without references, each rule meets each value once at most; without patterns and formats, none of them takes longer
 * for a long text.
 */
function isCheapSchema(schema: Schema): boolean {
  const text = JSON.stringify(schema);
  return text.length <= cheap.bytes && !/"(\$ref|\$dynamicRef|pattern|patternProperties|format)":/.test(text);
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

/** What is wrong with a schema by the rules of JSON Schema 2020-12 themselves. */
export function evaluateMetaSchema(schema: unknown): readonly ErrorObject[] {
  metaSchema ??= new Ajv2020({ allErrors: true, strict: false }).getSchema(
    'https://json-schema.org/draft/2020-12/schema',
  );
  const validate = metaSchema;
  if (validate === undefined) throw new Error('Ajv has no schema for JSON Schema 2020-12');
  return runWithin(millisecondsToValidate, () => {
    validate(schema);
    return validate.errors ?? [];
  });
}

const mostCompiled = 100;
const compiled = new Map<string, Evaluate>();

/** The same as `compileSchema`, remembering the most recently used ones. */
export function compileSchemaOnce(schema: Schema): Evaluate {
  const digest = createHash('sha256').update(JSON.stringify(schema)).digest('base64');
  const evaluate = compiled.get(digest) ?? compileSchema(schema);
  compiled.delete(digest);
  compiled.set(digest, evaluate);
  for (const oldest of compiled.keys()) {
    if (compiled.size <= mostCompiled) break;
    compiled.delete(oldest);
  }
  return evaluate;
}

/** One Ajv for one schema: an instance keeps every schema that it ever compiled. */
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
  return (text) => text.length <= longestFormatted && check(text);
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
