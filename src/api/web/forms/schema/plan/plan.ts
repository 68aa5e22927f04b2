import type { Schema } from '#domain/registry/variables/engine.ts';
import { withoutHiddenNulls } from '#domain/registry/variables/nulls.ts';
import { propertiesOf } from '#domain/registry/variables/walk.ts';
import type { JsonObject } from '#domain/shared/values/json.ts';
import { Budget, costOfText, withinBudget } from '../budget.ts';
import { type Node, type ObjectNode, textOf } from './node.ts';
import { findOptions, nothing, optionOf, yesAndNo } from './options.ts';
import { isObject, namesIn, resolveSchema } from './resolve.ts';
import { findShapes } from './shapes.ts';

/** The depth limit of a form. Deeper values are written as JSON. */
const maxDepth = 6;
const maxMembers = 100;
const partsOfVariable = 150;
const partsOfForm = 800;
/** The number of schemas that are read for one form. A schema with many references may expand to far more than its own size. */
const schemasOfForm = 2000;
/** A longer name would be repeated in every field below it. */
const maxNameLength = 200;

/** The context in which a node is planned. */
export interface Place {
  readonly root: JsonObject;
  readonly name: string;
  readonly isRequired: boolean;
  readonly isSecret: boolean;
  readonly depth: number;
  /** Whether any value of the form is secret. */
  readonly hasSecrets: boolean;
  /** How many more parts the variable may have. All of its parts share this budget. */
  readonly parts: Budget;
  /** How many more schemas may be read. The whole form shares this budget. */
  readonly budget: Budget;
}

/** Plans the form of a template's variables: required ones first. */
export function planForm(variables: JsonObject): ObjectNode {
  const root = withoutHiddenNulls(variables);
  const budget = new Budget(schemasOfForm);
  const schema = withinBudget(() => resolveSchema(root, root, budget)) ?? root;
  const required = namesIn(schema['required']);
  const declared = inOrder(schema);
  // All variables are read before the parts of any of them, so that a large variable leaves enough budget for the others.
  const sorted = [
    ...declared.filter(([name]) => required.includes(name)),
    ...declared.filter(([name]) => !required.includes(name)),
  ].map(([name, given]) => ({ name, given, read: readSchema(given, root, budget) }));
  const shared = { root, isSecret: false, depth: 0, budget, hasSecrets: mentionsSecret(JSON.stringify(root)) };
  let left = partsOfForm;
  const members = sorted.map(({ name, given, read }) => {
    const granted = Math.min(left, partsOfVariable);
    const parts = new Budget(granted);
    const depth = parts.spend(1) ? 0 : maxDepth + 1;
    const node = planRead(given, read, { ...shared, name, isRequired: required.includes(name), depth, parts });
    left -= granted - parts.left;
    return node;
  });
  const place = { ...shared, name: '', isRequired: true, parts: new Budget(left) };
  return { ...describe(schema, place), kind: 'object', members, row: null };
}

/** The properties of an object by their `x-order`, then by name, because the database does not keep their original order. */
function inOrder(schema: JsonObject): [string, Schema][] {
  const properties = Object.entries(propertiesOf(schema)) as [string, Schema][];
  const orderOf = (property: Schema) => {
    const order = typeof property === 'boolean' ? undefined : property['x-order'];
    return typeof order === 'number' ? order : Number.MAX_SAFE_INTEGER;
  };
  return properties.sort(([one, a], [other, b]) => orderOf(a) - orderOf(b) || one.localeCompare(other, 'en'));
}

/** Plans the part of a form for one value. The caller has paid for the part itself. */
function planNode(given: Schema, place: Place): Node {
  return planRead(given, readSchema(given, place.root, place.budget), place);
}

/** Resolves a schema; null if it exceeds the budget. */
function readSchema(given: Schema, root: JsonObject, budget: Budget): JsonObject | null {
  return withinBudget(() => {
    const schema = resolveSchema(given, root, budget);
    budget.charge(costOfText(textOf(schema, 'title').length + textOf(schema, 'description').length));
    return schema;
  });
}

function planRead(given: Schema, schema: JsonObject | null, place: Place): Node {
  if (!schema) return planUnread(given, place);
  const described = describe(schema, place);
  if (place.depth > maxDepth) return { ...described, kind: 'json' };
  const inside = { ...place, isSecret: described.isSecret, depth: place.depth + 1 };
  const planned = withinBudget(() => planChoice(schema, described, inside) ?? planTyped(schema, described, inside));
  return planned ?? { ...described, isSecret: described.isSecret || mayHoldSecret(schema, place), kind: 'json' };
}

/** The node of a value whose schema was not read. */
function planUnread(given: Schema, place: Place): Node {
  const own: JsonObject =
    typeof given === 'boolean' || given['default'] === undefined ? {} : { default: given['default'] };
  return { ...describe(own, place), isSecret: place.isSecret || place.hasSecrets, kind: 'json' };
}

/** Whether a value whose parts are not planned may contain a secret. In case of doubt, it is treated as one, and not shown again. */
function mayHoldSecret(schema: JsonObject, { hasSecrets, budget }: Place): boolean {
  if (!hasSecrets) return false;
  const text = withinBudget(() => {
    const written = JSON.stringify(schema);
    budget.charge(costOfText(written.length));
    return written;
  });
  return text === null || text.includes('"$ref"') || mentionsSecret(text);
}

function mentionsSecret(text: string): boolean {
  return /"writeOnly":true|"format":"password"/.test(text);
}

type Described = Omit<Extract<Node, { kind: 'json' }>, 'kind'>;

function describe(schema: JsonObject, { name, isRequired, isSecret }: Place): Described {
  return {
    name,
    title: textOf(schema, 'title'),
    description: textOf(schema, 'description'),
    isRequired,
    isDeprecated: schema['deprecated'] === true,
    isSecret: isSecret || schema['writeOnly'] === true || schema['format'] === 'password',
    default: schema['default'],
    schema,
  };
}

/** The node of a value that is one of several values or shapes; null if the schema offers no choice. */
function planChoice(schema: JsonObject, described: Described, inside: Place): Node | null {
  if (schema['const'] !== undefined) {
    const value = schema['const'];
    if (described.isRequired) return { ...described, kind: 'fixed', value };
    const option = optionOf(value);
    inside.budget.charge(costOfText(option.label.length));
    return { ...described, kind: 'options', options: [option] };
  }
  const options = findOptions(schema, inside.root, inside.budget);
  if (options) return { ...described, kind: 'options', options };
  const shapes = findShapes(schema, inside.root, inside.budget);
  if (!shapes) return null;
  inside.parts.demand(shapes.length);
  const planned = shapes.map((shape) => planNode(shape, { ...inside, name: '', isRequired: true }));
  return { ...described, kind: 'shapes', shapes: planned };
}

type Planner = (schema: JsonObject, described: Described, inside: Place) => Node | null;

/** The planner for each type; null: the value is entered as JSON. */
const planners: Readonly<Record<string, Planner>> = {
  string: (schema, described) => ({ ...described, kind: 'text', input: chooseInput(schema) }),
  number: (_schema, described) => ({ ...described, kind: 'number' }),
  integer: (_schema, described) => ({ ...described, kind: 'number' }),
  boolean: (_schema, described) => ({ ...described, kind: 'options', options: yesAndNo }),
  null: (_schema, described) =>
    described.isRequired
      ? { ...described, kind: 'fixed', value: null }
      : { ...described, kind: 'options', options: [nothing] },
  object: planObject,
  array: planArray,
};

function planTyped(schema: JsonObject, described: Described, inside: Place): Node {
  const type = typeof schema['type'] === 'string' ? schema['type'] : inferType(schema);
  const planned = planners[type]?.(schema, described, inside);
  return planned ?? { ...described, kind: 'json' };
}

/** The type that the keywords of a schema without a type imply; empty if they imply none. */
function inferType(schema: JsonObject): string {
  const has = (...names: string[]) => names.some((name) => schema[name] !== undefined);
  if (has('properties', 'additionalProperties', 'patternProperties')) return 'object';
  if (has('items', 'prefixItems')) return 'array';
  if (has('minLength', 'maxLength', 'pattern', 'format')) return 'string';
  return has('minimum', 'maximum', 'multipleOf', 'exclusiveMinimum', 'exclusiveMaximum') ? 'number' : '';
}

const longLine = 200;

function chooseInput(schema: JsonObject): 'line' | 'lines' | 'date' {
  if (schema['format'] === 'date') return 'date';
  const texts = [schema['default'], ...(Array.isArray(schema['examples']) ? schema['examples'] : [])];
  const hasLines = texts.some((text) => typeof text === 'string' && text.includes('\n'));
  const isLong = typeof schema['minLength'] === 'number' && schema['minLength'] > longLine;
  return hasLines || isLong || schema['contentMediaType'] !== undefined ? 'lines' : 'line';
}

function planObject(schema: JsonObject, described: Described, inside: Place): Node | null {
  const names = Object.keys(propertiesOf(schema));
  const row = findRowSchema(schema);
  if (names.length > maxMembers || (names.length === 0 && row === null)) return null;
  if (names.some((name) => name.length > maxNameLength)) return null;
  inside.parts.demand(names.length + (row ? 1 : 0));
  const members = inOrder(schema);
  const required = namesIn(schema['required']);
  return {
    ...described,
    kind: 'object',
    members: members.map(([name, each]) => planNode(each, { ...inside, name, isRequired: required.includes(name) })),
    row: row && planNode(row, { ...inside, name: '', isRequired: true }),
  };
}

/** The schema of members without fixed names; null if there are none, or if they may be anything. */
function findRowSchema(schema: JsonObject): JsonObject | null {
  const patterns = Object.values(propertiesOf(schema, 'patternProperties'));
  const others = schema['additionalProperties'];
  if (isObject(others) && Object.keys(others).length > 0 && patterns.length === 0) return others;
  const [only, ...more] = patterns;
  return more.length === 0 && isObject(only) && !isObject(others) ? only : null;
}

function planArray(schema: JsonObject, described: Described, inside: Place): Node | null {
  const items = schema['items'];
  const first = Array.isArray(schema['prefixItems']) ? (schema['prefixItems'] as Schema[]) : [];
  const anonymous = { ...inside, name: '', isRequired: true };
  const options =
    isObject(items) && schema['uniqueItems'] === true
      ? findOptions(resolveSchema(items, inside.root, inside.budget), inside.root, inside.budget)
      : null;
  if (options && first.length === 0) return { ...described, kind: 'many', options };
  if (!isObject(items) && first.length === 0) return null;
  if (first.length > maxMembers || (isObject(items) && Object.keys(items).length === 0)) return null;
  inside.parts.demand(first.length + (isObject(items) ? 1 : 0));
  return {
    ...described,
    kind: 'array',
    first: first.map((each) => planNode(each, anonymous)),
    item: isObject(items) ? planNode(items, anonymous) : null,
  };
}
