import type { JsonValue } from '#domain/shared/values/json.ts';
import { AssemblyNodeSpec, mostNodes, nodeKeyPattern } from './spec.ts';

/**
 * The nodes of a value that may be no valid spec: those that are valid by themselves, among as many as a spec may have. A draft is
 * drawn and compared all the same.
 */
export function readableNodes(value: JsonValue): Record<string, AssemblyNodeSpec> {
  const nodes = objectOf(objectOf(value)['nodes']);
  const readable = Object.entries(nodes)
    .slice(0, mostNodes)
    .flatMap(([key, node]): [string, AssemblyNodeSpec][] => {
      const parsed = nodeKeyPattern.test(key) ? AssemblyNodeSpec.safeParse(node) : undefined;
      return parsed?.success ? [[key, parsed.data]] : [];
    });
  return Object.fromEntries(readable);
}

/** The members of an object; none if the value is no object. */
export function objectOf(value: JsonValue | undefined): Readonly<Record<string, JsonValue>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}
