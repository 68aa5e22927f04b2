import type { JsonValue } from '#domain/shared/values/json.ts';
import { suggest } from '#domain/shared/values/near-names.ts';
import type { Draft, Problems } from '../draft-parts.ts';
import { type Problem, pointer } from '../problems.ts';
import { describeReference } from '../reference-syntax.ts';
import { findMalformed, locateInstanceReferences, locateReferences, type Reference } from '../references.ts';
import { canHaveMember, declaredNames, declares, haveCommonType, schemaAt, typesOf } from '../variable-types.ts';

/** Checks the references in the variables of nodes and in the outputs. */
export function checkReferences(draft: Draft): Problems {
  const places: [JsonValue, string][] = [
    ...Object.entries(draft.nodes).map(([key, { variables }]): [JsonValue, string] => [
      variables,
      pointer('nodes', key, 'variables'),
    ]),
    [{ ...draft.outputs }, '/outputs'],
  ];
  const located = places.flatMap(([value, base]) => locateReferences(value, base));
  const malformed = places.flatMap(([value, base]) => findMalformed(value, base));
  const misplaced = locateInstanceReferences({ ...draft.outputs }, '/outputs').map(({ path }) => ({
    path,
    message: 'refers to an output of another instance: only variables of nodes can',
  }));
  return {
    errors: [malformed, misplaced, findUnknown(located, draft), findUnprintable(located, draft)],
    warnings: [findUnsure(located, draft)],
  };
}

type Located = ReturnType<typeof locateReferences>[number];

/** The errors about references to unknown names. Each reference is explained once, because searching for a suggestion takes time. */
function* findUnknown(located: readonly Located[], draft: Draft): Generator<Problem> {
  const explained = new Map<string, string | null>();
  for (const { path, reference } of located) {
    const name = describeReference(reference);
    const known = explained.get(name);
    const message = known === undefined ? explainUnknown(reference, draft) : known;
    explained.set(name, message);
    if (message !== null) yield { path, message };
  }
}

/** The errors about references inside a text to variables whose declared types cannot be put into a text. */
function* findUnprintable(located: readonly Located[], { variables }: Draft): Generator<Problem> {
  for (const { path, reference, isWhole } of located) {
    if (isWhole || reference.kind !== 'variable') continue;
    const declared = typesOf(schemaAt(variables, [reference.name, ...reference.path]));
    if (!declared || haveCommonType(declared, printableTypes)) continue;
    const what = `${describeReference(reference)} is ${declared.join(' or ')}, which cannot stand inside of a text`;
    yield { path, message: `${what}: let the value be nothing but the reference` };
  }
}

const printableTypes = ['string', 'number', 'boolean'] as const;

/** Why a reference leads nowhere; null if it may lead somewhere. */
export function explainUnknown(reference: Reference, { variables, keys, templates }: Draft): string | null {
  if (reference.kind === 'variable') return explainUnknownVariable(reference, variables);
  const { node, name } = reference;
  if (!keys.has(node)) {
    return `refers to the node "${node}", which this assembly does not have${suggest(node, [...keys])}`;
  }
  const template = templates.get(node);
  if (!template || Object.hasOwn(template.spec.outputs, name)) return null;
  const names = Object.keys(template.spec.outputs);
  const hint = names.length === 0 ? '; it has none' : suggest(name, names);
  return `refers to the output "${name}", which the template of "${node}" does not have${hint}`;
}

function explainUnknownVariable({ name, path }: Reference, variables: Draft['variables']): string | null {
  if (!declares(variables, name)) {
    const names = declaredNames(variables);
    const hint = names.length === 0 ? '; it has none: declare it in "variables"' : suggest(name, names);
    return `refers to the variable "${name}", which this assembly does not have${hint}`;
  }
  for (const [index, step] of path.entries()) {
    const inside = [name, ...path.slice(0, index)];
    const schema = schemaAt(variables, inside);
    const allowed = typesOf(schema);
    if (!canHaveMember(allowed, step)) {
      const whole = describeReference({ kind: 'variable', name, path: path.slice(0, index) });
      return `refers to "${step}" in ${whole}, which is ${allowed?.join(' or ')} and has no such members`;
    }
    if (schema?.['additionalProperties'] === false && !declares(schema, String(step))) {
      const whole = describeReference({ kind: 'variable', name, path: path.slice(0, index) });
      return `refers to the member "${step}", which ${whole} does not have${suggest(String(step), declaredNames(schema))}`;
    }
  }
  return null;
}

/** The warnings about references to variables that are not required: if a run does not set one, the reference fails. */
function* findUnsure(located: readonly Located[], { variables }: Draft): Generator<Problem> {
  const required = new Set(Array.isArray(variables['required']) ? variables['required'] : []);
  for (const { path, reference } of located) {
    const { kind, name } = reference;
    if (kind !== 'variable' || required.has(name) || !declares(variables, name)) continue;
    if (schemaAt(variables, [name])?.['default'] !== undefined) continue;
    yield {
      path,
      message: `refers to the variable "${name}", which may have no value: require it, or give it a default`,
    };
  }
}
