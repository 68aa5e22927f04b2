import { type Operation, type ReadOperation, routeOf } from '../operation.ts';

export type PathParams = Readonly<Record<string, unknown>>;

/** The names of the parameters of a route's path, in their order. */
export function paramNamesOf(path: string): string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
}

/** Builds an address from the pattern of a path and its parameters, each percent-encoded. */
export function fillPath(pattern: `/${string}`, params: PathParams): `/${string}` {
  const fill = (_all: string, name: string) => encodeURIComponent(String(params[name]));
  return pattern.replace(/:(\w+)/g, fill) as `/${string}`;
}

/** Builds the address of an operation. Receipts, `Location` headers and pages use it. */
export function operationPath(operation: Operation, params: PathParams): `/${string}` {
  return fillPath(routeOf(operation).path, params);
}

/**
 * Finds the read operation that answers `GET location`, and its path parameters. Only receipts of the previous release
 * need this: they store an address and no operation.
 */
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
  const expected = pattern.split('/');
  const given = path.split('/');
  if (expected.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of expected.entries()) {
    const value = given[index]!;
    if (part.startsWith(':')) params[part.slice(1)] = decodeURIComponent(value);
    else if (part !== value) return undefined;
  }
  return params;
}
