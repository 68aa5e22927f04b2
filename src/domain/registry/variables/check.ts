import { runWithin } from '#domain/shared/evaluation/time-limit.ts';
import type { JsonObject } from '#domain/shared/values/json.ts';
import { splitPointer } from '#domain/shared/values/json-pointer.ts';
import { compilePattern, compileSchema, evaluateMetaSchema, formats, SchemaUnusable } from './engine.ts';
import { describeErrors, type VariableError } from './errors.ts';
import { isLargerThan } from './json-size.ts';
import { keywords, type Located, locateSchemas, neighbours, propertiesOf, reachable, referenceOf } from './walk.ts';

/** The largest public modules have some hundreds. */
const maxVariables = 1_000;
const schemaLimits = { values: 10_000, depth: 48, bytes: 128 * 1024 };
const maxPatternLength = 1_000;
const millisecondsToFill = 500;

/** A name that is valid both in OpenTofu and as an environment variable. */
const variableName = /^[A-Za-z_][A-Za-z0-9_-]{0,127}$/;
const dialect = 'https://json-schema.org/draft/2020-12/schema';

/**
 * Returns all errors of the schema of a template's variables; `path` is a JSON pointer into the schema. The root must be an object that
 * lists every variable in `properties`, and references must stay inside the schema.
 * @throws TimeLimitExceeded
 */
export function checkSchema(schema: JsonObject): VariableError[] {
  if (isLargerThan(schema, schemaLimits)) return [problem('', 'is too large or nested too deeply')];
  try {
    const malformed = describeErrors(evaluateMetaSchema(schema));
    if (malformed.length > 0) return malformed;
    const problems = checkRules(schema, locateSchemas(schema));
    return problems.length > 0 ? problems : checkDefaults(schema);
  } catch (error) {
    if (error instanceof SchemaUnusable) return [problem('', `cannot be used: ${error.message}`)];
    throw error;
  }
}

function checkRules(schema: JsonObject, all: ReadonlyMap<string, Located>): VariableError[] {
  return [
    ...checkRoot(schema),
    ...[...all.values()].flatMap((located) => checkLocated(located, all)),
    ...checkDeclared(schema, all),
    ...checkCycles(all),
  ];
}

function checkRoot(schema: JsonObject): VariableError[] {
  const variables = Object.keys(propertiesOf(schema));
  const problems: VariableError[] = [];
  if (schema['type'] !== 'object')
    problems.push(problem('/type', 'must be "object": the schema describes all variables'));
  if (variables.length > maxVariables)
    problems.push(problem('/properties', `must have at most ${maxVariables} variables, and has ${variables.length}`));
  for (const keyword of ['additionalProperties', 'unevaluatedProperties']) {
    if (schema[keyword] !== undefined && schema[keyword] !== false) {
      problems.push(problem(`/${keyword}`, 'must be false or left out: every variable is listed in "properties"'));
    }
  }
  for (const keyword of ['$ref', 'patternProperties', 'default', 'writeOnly']) {
    if (schema[keyword] === undefined) continue;
    problems.push(problem(`/${keyword}`, 'is not allowed here: use it in the schema of a variable in "properties"'));
  }
  return problems;
}

function checkLocated({ pointer, schema, isConditional }: Located, all: ReadonlyMap<string, Located>): VariableError[] {
  if (typeof schema === 'boolean') return [];
  const problems = Object.keys(schema).flatMap((keyword) => {
    const message = checkKeyword(keyword, schema, all);
    return message === null ? [] : [problem(`${pointer}/${keyword}`, message)];
  });
  if (schema['default'] !== undefined && schema['writeOnly'] === true) {
    problems.push(problem(`${pointer}/default`, 'must not be combined with "writeOnly": everybody can read a default'));
  }
  if (schema['default'] !== undefined && isConditional) {
    problems.push(problem(`${pointer}/default`, 'would have no effect here: move it out of the condition'));
  }
  for (const name of Object.keys(propertiesOf(schema)).filter((key) => key in Object.prototype)) {
    problems.push(problem(`${pointer}/properties/${name}`, 'is a name that the service reserves'));
  }
  return problems;
}

function checkKeyword(keyword: string, schema: JsonObject, all: ReadonlyMap<string, Located>): string | null {
  if (keyword === '$schema' && schema[keyword] !== dialect) return `must be "${dialect}"`;
  if (keyword === '$ref') return checkReference(schema, all);
  if (keyword === 'pattern') return checkPattern(schema[keyword]);
  if (keyword === 'patternProperties') {
    const patterns = Object.keys(propertiesOf(schema, keyword));
    return patterns.map(checkPattern).find((message) => message !== null) ?? null;
  }
  if (keyword === 'format' && !Object.keys({ ...formats, password: '' }).includes(String(schema[keyword]))) {
    return `must be one of ${Object.keys(formats).join(', ')}, password`;
  }
  if (Object.hasOwn(keywords, keyword) || keyword.startsWith('x-')) return null;
  return 'is not a supported keyword; a keyword of your own must start with "x-"';
}

function checkReference(schema: JsonObject, all: ReadonlyMap<string, Located>): string | null {
  const target = referenceOf(schema);
  if (target === undefined) return 'must stay inside the schema, such as "#/$defs/size"';
  return all.has(target) ? null : 'must refer to a schema, such as "#/$defs/size"';
}

function checkPattern(pattern: unknown): string | null {
  if (typeof pattern !== 'string' || pattern.length > maxPatternLength)
    return `must have at most ${maxPatternLength} characters`;
  try {
    compilePattern(pattern);
    return null;
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^error parsing regexp: /, '').slice(0, 80) : 'unknown';
    return `must be a regular expression of RE2, which has no look-around and no back-references: ${why}`;
  }
}

/** Conditions may only name variables that the root's `properties` list, because forms show those. */
function checkDeclared(schema: JsonObject, all: ReadonlyMap<string, Located>): VariableError[] {
  const declared = propertiesOf(schema);
  const problems = Object.keys(declared)
    .filter((name) => !variableName.test(name))
    .map((name) =>
      problem(`/properties/${name}`, 'expected letters, digits, "_" and "-", starting with a letter or "_"'),
    );
  const root = all.get('');
  for (const { pointer, schema: inner } of root === undefined ? [] : reachable(root, all)) {
    if (typeof inner === 'boolean') continue;
    const required = Array.isArray(inner['required']) ? inner['required'].map(String) : [];
    const undeclared = [...Object.keys(propertiesOf(inner)), ...required].filter(
      (name) => !Object.hasOwn(declared, name),
    );
    for (const name of new Set(undeclared)) {
      problems.push(problem(pointer, `names "${name}", which the root's "properties" do not list`));
    }
  }
  return problems;
}

/** Finds schemas that apply themselves to the same value again, which would never end. */
function checkCycles(all: ReadonlyMap<string, Located>): VariableError[] {
  const done = new Set<string>();
  const visiting = new Set<string>();
  const endless: string[] = [];
  const visit = (located: Located): void => {
    if (visiting.has(located.pointer)) endless.push(located.pointer);
    if (visiting.has(located.pointer) || done.has(located.pointer)) return;
    visiting.add(located.pointer);
    for (const next of neighbours(located, all)) visit(next);
    visiting.delete(located.pointer);
    done.add(located.pointer);
  };
  for (const located of all.values()) visit(located);
  return [...new Set(endless)].map((pointer) => problem(pointer, 'refers to itself endlessly'));
}

/** Checks the defaults against the rules of their variables, by filling them into an empty input. */
function checkDefaults(schema: JsonObject): VariableError[] {
  const filled: JsonObject = {};
  const evaluate = compileSchema(schema);
  const errors = runWithin(millisecondsToFill, () => evaluate(filled));
  const broken = errors.filter((error) => Object.hasOwn(filled, splitPointer(error.instancePath)[0] ?? ''));
  return describeErrors(broken).map(({ path, message }) => {
    const [name = ''] = splitPointer(path);
    return problem(`/properties/${name}/default`, `breaks the variable's own rules: ${path} ${message}`);
  });
}

function problem(path: string, message: string): VariableError {
  return { path, message };
}
