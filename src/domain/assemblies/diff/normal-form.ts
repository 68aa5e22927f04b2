import type { JsonValue } from '#domain/shared/values/json.ts';
import { objectOf } from '../spec/draft-nodes.ts';

/** Removes members without effect from specs, so that a draft that omits a default equals a version that contains it. */

type Members = Readonly<Record<string, JsonValue>>;

const defaults: Members = { variables: { type: 'object', properties: {} }, outputs: {}, concurrency: 10 };
const nodeDefaults: Members = { version: 'latest', variables: {}, depends_on: [] };
const approvalDefaults: Members = { when: 'always', allow_self: false };
const retryDefaults: Members = { backoff: 'PT10S' };

/** The fields of a spec outside its nodes, without defaults. */
export function fieldsOf(spec: JsonValue): Members {
  const { nodes: _nodes, ...fields } = objectOf(spec);
  return without(fields, defaults);
}

/** The nodes of a spec by key, without defaults. In a draft, a node need not be an object. */
export function nodesOf(spec: JsonValue): Members {
  const nodes = Object.entries(objectOf(objectOf(spec)['nodes']));
  return Object.fromEntries(nodes.map(([key, node]) => [key, isObject(node) ? shorten(key, node) : node]));
}

function shorten(key: string, node: Members): JsonValue {
  const { approval, retry, depends_on: dependencies } = node;
  return without(
    {
      ...node,
      ...(isObject(approval) && { approval: without(approval, approvalDefaults) }),
      ...(isObject(retry) && { retry: without(retry, retryDefaults) }),
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

function isObject(value: JsonValue | undefined): value is { [name: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
