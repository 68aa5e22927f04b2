import { type Operation, type ReadOperation, routeOf } from './operation.ts';

/** The read operation that answers `GET location`, with its path parameters: for receipts that keep an address alone. */
export function matchLocation(
  operations: readonly Operation[],
  location: string,
): { operation: ReadOperation; params: Record<string, string> } | undefined {
  for (const operation of operations) {
    if (operation.kind !== 'read' || !operation.route.startsWith('GET ')) continue;
    const params = matchPath(routeOf(operation).path, location);
    if (params) return { operation, params };
  }
  return undefined;
}

function matchPath(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split('/');
  const given = path.split('/');
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index]!;
    if (part.startsWith(':')) params[part.slice(1)] = decodeURIComponent(value);
    else if (part !== value) return undefined;
  }
  return params;
}
