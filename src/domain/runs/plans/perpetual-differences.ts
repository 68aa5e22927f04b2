import type { ResourceChange } from './model.ts';

/**
 * For each resource, by its address, the resources to which its configuration refers where a plan does not know its values. Addresses have
 * no keys, such as `module.a.aws_instance.b`. Null: the configuration may refer to anything.
 */
export type ConfiguredReferences = ReadonlyMap<string, readonly string[] | null>;

/**
 * Marks the changes whose values each plan leaves unknown, such as those of `timestamp()`. A value may also be unknown because it depends
 * on a resource that differs, for example one that was deleted. Such a change stays `unknown`. Pure.
 */
export function withPerpetual(changes: readonly ResourceChange[], references: ConfiguredReferences): ResourceChange[] {
  const different = new Set(changes.filter((each) => !each.expectation).map(({ address }) => withoutKeys(address)));
  const unknown = Map.groupBy(
    changes.filter(({ expectation }) => expectation),
    ({ address }) => withoutKeys(address),
  );
  const known = new Map([...different].map((resource) => [resource, true]));
  const leadsToDifference = (resource: string): boolean => {
    const answer = known.get(resource);
    if (answer !== undefined) return answer;
    // References may form a cycle, since several objects of one resource may refer to each other's resource.
    known.set(resource, false);
    const leads = (unknown.get(resource) ?? []).some(dependsOnDifference);
    known.set(resource, leads);
    return leads;
  };
  const dependsOnDifference = ({ address }: ResourceChange): boolean => {
    const named = references.get(address) ?? null;
    return named === null ? different.size > 0 : named.some(leadsToDifference);
  };
  return changes.map((change) =>
    change.expectation && !dependsOnDifference(change) ? { ...change, expectation: 'perpetual' } : change,
  );
}

const key = /\[(?:\d+|"(?:[^"\\]|\\.)*")\]/g;

/** The address of a resource as its configuration has it: without the keys of `count` and `for_each`. */
export function withoutKeys(address: string): string {
  return address.replaceAll(key, '');
}
