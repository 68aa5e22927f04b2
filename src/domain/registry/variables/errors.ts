import type { ErrorObject } from 'ajv/dist/2020.js';
import { isJsonObject, type JsonValue } from '#domain/shared/values/json.ts';
import { escapePointer } from '#domain/shared/values/json-pointer.ts';
import { formats } from './engine.ts';

/** One error; `path` is a JSON pointer, `''` for the whole value. The message never repeats a value. */
export type VariableError = { path: string; message: string };

const maxErrors = 100;
const maxList = 400;

const articles: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  null: 'null',
};

const comparisons: Readonly<Record<string, string>> = {
  '>=': 'at least',
  '<=': 'at most',
  '>': 'greater than',
  '<': 'less than',
};

type Describe = (params: Readonly<Record<string, unknown>>, schema: JsonValue | undefined) => string;

const counted = (params: Readonly<Record<string, unknown>>, bound: string, one: string, many: string) =>
  `must have ${bound} ${params['limit']} ${params['limit'] === 1 ? one : many}`;

/** The message for each keyword. Its parameters come from the schema. */
const descriptions: Readonly<Record<string, Describe>> = {
  type: ({ type }) =>
    `must be ${[type]
      .flat()
      .map((name) => articles[String(name)] ?? String(name))
      .join(' or ')}`,
  required: () => 'is required',
  dependentRequired: ({ property }) => `is required where "${property}" is given`,
  additionalProperties: (_params, schema) => describeUnknown(schema),
  unevaluatedProperties: () => 'is not known here',
  enum: ({ allowedValues }) => `must be one of ${list(allowedValues)}`,
  const: ({ allowedValue }) => `must be ${list([allowedValue])}`,
  minimum: ({ comparison, limit }) => `must be ${comparisons[String(comparison)]} ${limit}`,
  maximum: ({ comparison, limit }) => `must be ${comparisons[String(comparison)]} ${limit}`,
  exclusiveMinimum: ({ comparison, limit }) => `must be ${comparisons[String(comparison)]} ${limit}`,
  exclusiveMaximum: ({ comparison, limit }) => `must be ${comparisons[String(comparison)]} ${limit}`,
  multipleOf: ({ multipleOf }) => `must be a multiple of ${multipleOf}`,
  minLength: (params) => counted(params, 'at least', 'character', 'characters'),
  maxLength: (params) => counted(params, 'at most', 'character', 'characters'),
  minItems: (params) => counted(params, 'at least', 'item', 'items'),
  maxItems: (params) => counted(params, 'at most', 'item', 'items'),
  minProperties: (params) => counted(params, 'at least', 'member', 'members'),
  maxProperties: (params) => counted(params, 'at most', 'member', 'members'),
  pattern: ({ pattern }) => `must match the pattern ${pattern}`,
  format: ({ format }) =>
    `must be a ${format}, such as ${Object.entries(formats).find(([name]) => name === format)?.[1]}`,
  propertyNames: () => 'has a member whose name is not allowed',
  anyOf: () => 'matches none of the allowed forms',
  oneOf: ({ passingSchemas }) =>
    passingSchemas ? 'matches more than one of the forms that exclude each other' : 'matches none of the allowed forms',
  not: () => 'has a form that is not allowed',
  contains: ({ minContains }) => `must have at least ${minContains} item that fits`,
  'false schema': () => 'must be left out',
};

/** Keywords whose error concerns a member of the value, with the parameter of Ajv that names the member. */
const memberParameters: Readonly<Record<string, string>> = {
  required: 'missingProperty',
  dependentRequired: 'missingProperty',
  additionalProperties: 'additionalProperty',
  unevaluatedProperties: 'unevaluatedProperty',
};

/** Ajv's errors as messages, without duplicates, in the order in which they were found. */
export function describeErrors(errors: readonly ErrorObject[]): VariableError[] {
  const described = withoutBranches(errors).map((error) => ({
    path: pathOf(error),
    message: describeValidationError(error),
  }));
  const distinct = new Map(described.map((error) => [`${error.path}\n${error.message}`, error]));
  const listed = [...distinct.values()];
  if (listed.length <= maxErrors) return listed;
  return [...listed.slice(0, maxErrors), { path: '', message: `has ${listed.length - maxErrors} more errors` }];
}

/** The path of the value that an error concerns. A missing or unknown member has its own path. */
function pathOf(error: ErrorObject): string {
  const parameter = memberParameters[error.keyword];
  const member = parameter === undefined ? undefined : error.params[parameter];
  return typeof member === 'string' ? `${error.instancePath}/${escapePointer(member)}` : error.instancePath;
}

/**
 * The keyword with which the author of a template replaces the messages of other keywords, by their names: `{ "pattern": "Lowercase
 * letters, please." }`.
 */
export const messagesKeyword = 'x-error-messages';

function describeValidationError(error: ErrorObject): string {
  const messages = error.parentSchema?.[messagesKeyword];
  const own = isJsonObject(messages) ? messages[error.keyword] : undefined;
  if (typeof own === 'string') return own;
  const known = descriptions[error.keyword];
  return known ? known(error.params, error.parentSchema) : (error.message ?? 'is not valid');
}

/**
 * Leaves out the errors inside branches if no branch matches, and those of `if`, whose `then` or `else` has its own. There may be
 * many thousands of errors, but they come from few places in the schema.
 */
function withoutBranches(errors: readonly ErrorObject[]): ErrorObject[] {
  const ofChoices = errors.filter(({ keyword }) => ['anyOf', 'oneOf', 'propertyNames'].includes(keyword));
  const choices = [...new Set(ofChoices.map(({ schemaPath }) => `${schemaPath}/`))];
  const places = new Set(errors.map(({ schemaPath }) => schemaPath));
  const inside = new Set([...places].filter((place) => choices.some((choice) => place.startsWith(choice))));
  return errors.filter((error) => {
    if (error.keyword === 'if') return errors.length === 1;
    return error.propertyName === undefined && !inside.has(error.schemaPath);
  });
}

/** Names the members that the schema has, since an unknown name is usually a typing mistake. */
function describeUnknown(schema: JsonValue | undefined): string {
  const properties = isJsonObject(schema) ? schema['properties'] : undefined;
  const known = isJsonObject(properties) ? Object.keys(properties) : [];
  return known.length === 0 ? 'is not known here' : `is not known here: known are ${list(known)}`;
}

function list(values: unknown): string {
  const text = (Array.isArray(values) ? values : []).map((value) => JSON.stringify(value)).join(', ');
  return text.length <= maxList ? text : `${text.slice(0, maxList)}…`;
}
