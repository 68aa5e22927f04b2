import type { VariableError } from '#domain/registry/variables/errors.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { splitPointer } from '#domain/shared/values/json-pointer.ts';
import type { Draft, Problems, SpecEvaluation } from '../draft-parts.ts';
import { type Problem, pointer } from '../problems.ts';
import { describeReference } from '../reference-syntax.ts';
import {
  findMalformed,
  findReferences,
  locateInstanceReferences,
  locateReferences,
  resolveReferences,
} from '../references.ts';
import type { AssemblyNodeSpec } from '../spec.ts';
import { declaredNames, haveCommonType, requiredNames, schemaAt, typesOf } from '../variable-types.ts';

type JsonObject = { [key: string]: JsonValue };

interface GivenVariables {
  readonly node: AssemblyNodeSpec;
  readonly schema: JsonObject;
  /** The path of the variables in the spec. */
  readonly base: string;
  readonly constants: JsonObject;
}

/** Checks the variables that nodes pass to their templates. */
export async function checkNodeVariables(draft: Draft, evaluation: SpecEvaluation): Promise<Problems> {
  const all = Object.entries(draft.nodes).flatMap(([key, node]): GivenVariables[] => {
    const schema = draft.templates.get(key)?.spec.variables;
    if (!schema || !draft.isReadable(key, 'variables')) return [];
    return [{ node, schema, base: pointer('nodes', key, 'variables'), constants: constantsOf(node, schema) }];
  });
  const wrong = await checkConstants(all, evaluation);
  const errors = all.flatMap((given) => {
    const constants = (wrong.get(given) ?? []).map(({ path, message }) => ({ path: given.base + path, message }));
    return [...constants, ...checkTypes(given.node, given.schema, given.base, draft)];
  });
  const warnings = all.flatMap(({ node, schema, base }) => findMissing(node, schema, base));
  return { errors: [errors], warnings: [warnings] };
}

/**
 * Checks the constant values, each against the schema of its own variable. Rules between variables are checked only in the run, because the
 * environment may add values. The nodes of one template are validated together.
 */
async function checkConstants(
  all: readonly GivenVariables[],
  evaluation: SpecEvaluation,
): Promise<Map<GivenVariables, VariableError[]>> {
  const wrong = new Map<GivenVariables, VariableError[]>();
  const withConstants = all.filter(({ constants }) => Object.keys(constants).length > 0);
  for (const [schema, group] of Map.groupBy(withConstants, (given) => withoutRulesBetween(given.schema))) {
    const inputs = group.map(({ constants }) => constants);
    const results = await evaluation.validateVariables(schema, inputs);
    for (const [index, given] of group.entries()) wrong.set(given, results[index]?.errors ?? []);
  }
  return wrong;
}

/**
 * The constants of a node, as its run gets them. Undeclared variables with references are included with null, so that their names are
 * reported.
 */
function constantsOf(node: AssemblyNodeSpec, schema: JsonObject): JsonObject {
  const isConstant = (value: JsonValue) =>
    [findReferences, findMalformed, locateInstanceReferences].every((find) => find(value).length === 0);
  const declared = new Set(declaredNames(schema));
  const constants = Object.entries(node.variables).flatMap(([name, value]): [string, JsonValue][] => {
    // The run gets the resolved text: `$${` becomes `${`.
    if (isConstant(value)) return [[name, resolveReferences(value, () => undefined).value]];
    return declared.has(name) ? [] : [[name, null]];
  });
  return Object.fromEntries(constants);
}

const separate = new WeakMap<JsonObject, JsonObject>();

/** The schema with only the rules of single variables. The result is cached by the schema object, so that it is compiled once. */
function withoutRulesBetween(schema: JsonObject): JsonObject {
  const known = separate.get(schema);
  if (known) return known;
  const kept = ['$schema', 'type', 'properties', '$defs', 'definitions'];
  const reduced = Object.fromEntries(Object.entries(schema).filter(([keyword]) => kept.includes(keyword)));
  separate.set(schema, reduced);
  return reduced;
}

/** The errors about references whose declared type cannot fit the template. Outputs have no declared types. */
function checkTypes(node: AssemblyNodeSpec, schema: JsonObject, base: string, draft: Draft): Problem[] {
  return Object.entries(node.variables).flatMap(([name, value]) =>
    locateReferences(value, pointer(name)).flatMap(({ path, reference, isWhole }): Problem[] => {
      const wanted = typesOf(schemaAt(schema, stepsOf(value, path)));
      const given = isWhole
        ? reference.kind === 'variable' && typesOf(schemaAt(draft.variables, [reference.name, ...reference.path]))
        : (['string'] as const);
      if (!wanted || !given || haveCommonType(wanted, given)) return [];
      const what = isWhole
        ? `${describeReference(reference)} is ${given.join(' or ')}`
        : 'a text with a reference inside';
      return [{ path: base + path, message: `must be ${wanted.join(' or ')}, and ${what}` }];
    }),
  );
}

/** The steps of a pointer, where those into lists are numbers. */
function stepsOf(root: JsonValue, path: string): (string | number)[] {
  const [name = '', ...parts] = splitPointer(path);
  let value: JsonValue | undefined = root;
  return [
    name,
    ...parts.map((part) => {
      const step = Array.isArray(value) ? Number(part) : part;
      value =
        typeof value === 'object' && value !== null ? (value as Record<string | number, JsonValue>)[step] : undefined;
      return step;
    }),
  ];
}

function findMissing(node: AssemblyNodeSpec, schema: JsonObject, base: string): Problem[] {
  const missing = requiredNames(schema).filter((name) => !Object.hasOwn(node.variables, name));
  return missing.map((name) => ({
    path: base + pointer(name),
    message: `the template requires "${name}", which is not given here: runs fail unless their environment has a value for it`,
  }));
}
