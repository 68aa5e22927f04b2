import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import { isJsonObject, type JsonValue } from '#domain/shared/values/json.ts';
import { objectOf, readableNodes } from '../spec/draft-nodes.ts';
import { dependenciesOf } from '../spec/graph.ts';
import { pointer } from '../spec/problems.ts';
import type { AssemblySpec } from '../spec/spec.ts';

/** Compares two specs. */

/** A field that differs. `before` is absent if it was added, `after` if it was removed. */
export interface FieldChange {
  /** A JSON pointer: within the node for a field of a node, else within the spec. */
  readonly path: string;
  readonly before?: JsonValue;
  readonly after?: JsonValue;
}

export interface NodeChange {
  readonly key: string;
  readonly change: 'added' | 'removed' | 'changed';
  readonly fields: readonly FieldChange[];
}

/** An edge leads from a node to one that waits for it. */
export type Edge = readonly [from: string, to: string];

export interface AssemblyDiff {
  readonly nodes: readonly NodeChange[];
  readonly fields: readonly FieldChange[];
  readonly edges: { readonly added: readonly Edge[]; readonly removed: readonly Edge[] };
}

/**
 * The nodes, fields and edges that differ. A field with its default value equals one that is left out. Both may be drafts that are not
 * valid specs. It parses the conditions of both, so call it through the evaluator.
 */
export function diffSpecs(before: AssemblySpec | JsonValue, after: AssemblySpec | JsonValue): AssemblyDiff {
  const [old, recent] = [asJson(before), asJson(after)];
  return {
    nodes: diffNodes(nodesOf(old), nodesOf(recent)),
    fields: diffMembers(fieldsOf(old), fieldsOf(recent), ''),
    edges: diffEdges(edgesOf(old), edgesOf(recent)),
  };
}

/** A spec that a schema made has members that are `undefined`, which JSON does not have. */
function asJson(spec: AssemblySpec | JsonValue): JsonValue {
  return JSON.parse(JSON.stringify(spec));
}

function diffNodes(before: Members, after: Members): NodeChange[] {
  return namesOf(before, after).flatMap((key): NodeChange[] => {
    const [old, recent] = [memberOf(before, key), memberOf(after, key)];
    if (old === undefined) return [{ key, change: 'added', fields: diffValues({}, recent, '') }];
    if (recent === undefined) return [{ key, change: 'removed', fields: diffValues(old, {}, '') }];
    const fields = diffValues(old, recent, '');
    return fields.length === 0 ? [] : [{ key, change: 'changed', fields }];
  });
}

type Members = Readonly<Record<string, JsonValue>>;

function diffMembers(before: Members, after: Members, path: string): FieldChange[] {
  return namesOf(before, after).flatMap((name) => {
    return diffValues(memberOf(before, name), memberOf(after, name), path + pointer(name));
  });
}

/** Returns an own member only: a name such as "constructor" also exists as an inherited member. */
function memberOf(members: Members, name: string): JsonValue | undefined {
  return Object.hasOwn(members, name) ? members[name] : undefined;
}

/** Objects are compared member by member, and everything else as a whole. */
function diffValues(before: JsonValue | undefined, after: JsonValue | undefined, path: string): FieldChange[] {
  if (isJsonObject(before) && isJsonObject(after)) return diffMembers(before, after, path);
  if (before !== undefined && after !== undefined && canonicalJson(before) === canonicalJson(after)) return [];
  if (before === undefined && after === undefined) return [];
  return [{ path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) }];
}

/** The names of both, in their order: those of the first, then those that only the second has. */
function namesOf(before: Members, after: Members): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])];
}

/** The edges between the nodes of a spec, which may be a draft. */
function edgesOf(spec: JsonValue): Edge[] {
  const dependencies = dependenciesOf({ nodes: readableNodes(spec) });
  return [...dependencies].flatMap(([to, needed]) => [...needed].map((from): Edge => [from, to]));
}

function diffEdges(before: readonly Edge[], after: readonly Edge[]): AssemblyDiff['edges'] {
  const nameOf = (edge: Edge) => edge.join(' ');
  const missingIn = (edges: readonly Edge[], others: readonly Edge[]) => {
    const known = new Set(others.map(nameOf));
    return edges.filter((edge) => !known.has(nameOf(edge)));
  };
  return { added: missingIn(after, before), removed: missingIn(before, after) };
}

/** Removes members without effect from specs, so that a draft that omits a default equals a version that contains it. */

const defaults: Members = { variables: { type: 'object', properties: {} }, outputs: {}, concurrency: 10 };
const nodeDefaults: Members = { version: 'latest', variables: {}, depends_on: [] };
const approvalDefaults: Members = { when: 'always', allow_self: false };
const retryDefaults: Members = { backoff: 'PT10S' };

/** The fields of a spec outside its nodes, without defaults. */
function fieldsOf(spec: JsonValue): Members {
  const { nodes: _nodes, ...fields } = objectOf(spec);
  return without(fields, defaults);
}

/** The nodes of a spec by key, without defaults. In a draft, a node need not be an object. */
function nodesOf(spec: JsonValue): Members {
  const nodes = Object.entries(objectOf(objectOf(spec)['nodes']));
  return Object.fromEntries(nodes.map(([key, node]) => [key, isJsonObject(node) ? shorten(key, node) : node]));
}

function shorten(key: string, node: Members): JsonValue {
  const { approval, retry, depends_on: dependencies } = node;
  return without(
    {
      ...node,
      ...(isJsonObject(approval) && { approval: without(approval, approvalDefaults) }),
      ...(isJsonObject(retry) && { retry: without(retry, retryDefaults) }),
      // The order of dependencies means nothing.
      ...(Array.isArray(dependencies) && { depends_on: [...dependencies].sort() }),
    },
    { ...nodeDefaults, instance: key },
  );
}

function without(members: Members, values: Members): { [name: string]: JsonValue } {
  const isDefault = (name: string, value: JsonValue) =>
    Object.hasOwn(values, name) && JSON.stringify(values[name]) === JSON.stringify(value);
  return Object.fromEntries(Object.entries(members).filter(([name, value]) => !isDefault(name, value)));
}
