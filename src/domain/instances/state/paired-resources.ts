import { isDeepStrictEqual } from 'node:util';
import type { ValuePath } from '#domain/shared/values/comparison/paths.ts';
import { isJsonObject, type JsonValue } from '#domain/shared/values/json.ts';

export interface ComparedResource {
  readonly type: string;
  readonly shown: string;
  readonly attributes: JsonValue;
  /** The paths of sensitive values. */
  readonly sensitive: readonly ValuePath[];
}

export type StateResources = ReadonlyMap<string, ComparedResource>;

/** A resource in the two states. */
export interface Pair {
  readonly address: string;
  readonly before: ComparedResource | undefined;
  readonly after: ComparedResource | undefined;
  /** Whether the address has changed, for example by a `moved` block. */
  readonly isMoved: boolean;
}

/**
 * Pairs the resources of two states by address. A resource that disappeared from one address and appeared at another has moved if type and
 * `id` are equal, and no other such resource has the same type and `id`.
 */
export function pairResources(old: StateResources, present: StateResources): Pair[] {
  const addresses = [...new Set([...old.keys(), ...present.keys()])];
  const pairs = addresses.map((address) => ({ address, before: old.get(address), after: present.get(address) }));
  const gone = byIdentity(pairs.flatMap(({ before, after }) => (before && !after ? [before] : [])));
  const created = byIdentity(pairs.flatMap(({ before, after }) => (after && !before ? [after] : [])));
  const movedFrom = new Map([...created].map(([identity, resource]) => [resource, gone.get(identity)]));
  const moved = new Set([...movedFrom.values()].filter((before) => before !== undefined));
  return pairs
    .filter(({ before, after }) => after || !before || !moved.has(before))
    .map((pair) => {
      const from = pair.after && movedFrom.get(pair.after);
      return { ...pair, before: from ?? pair.before, isMoved: from !== undefined };
    });
}

export function isDifferent({ before, after, isMoved }: Pair): boolean {
  const sides = [before, after].map((each) => each && [each.attributes, each.sensitive]);
  return isMoved || !isDeepStrictEqual(sides[0], sides[1]);
}

/** The resources that are unique by type and `id`. */
function byIdentity(resources: readonly ComparedResource[]): ReadonlyMap<string, ComparedResource> {
  const found = new Map<string, ComparedResource>();
  const ambiguous = new Set<string>();
  for (const resource of resources) {
    const { type, attributes } = resource;
    const id = isJsonObject(attributes) ? attributes['id'] : undefined;
    if (typeof id !== 'string' || id === '') continue;
    const identity = JSON.stringify([type, id]);
    if (found.has(identity)) ambiguous.add(identity);
    found.set(identity, resource);
  }
  for (const identity of ambiguous) found.delete(identity);
  return found;
}
