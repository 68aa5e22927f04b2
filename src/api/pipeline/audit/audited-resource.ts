import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Invocation } from '../invocation/invocation.ts';
import { type Operation, routeOf } from '../operation.ts';

/** The audit's resource type of an operation. */
export function resourceTypeOf({ id, resource }: Pick<Operation, 'id' | 'resource'>): string {
  return resource ?? id.slice(0, id.indexOf('.'));
}

/**
 * The id of the resource that a request names, for the record of its refusal or of a read; null if the path names only a parent of
 * the resource. The input may not have been validated yet, so a text that cannot be an id or a slug is dropped.
 */
export function resourceIdOf(
  { operation, input, principal }: Pick<Invocation, 'operation' | 'input' | 'principal'>,
  target: Ownership | undefined,
): string | null {
  const params: Record<string, unknown> = input.params ?? {};
  const declared = operation.resourceId?.({ params, target, principal });
  const id = declared === undefined ? params[resourceParameterOf(operation) ?? ''] : declared;
  return isName(id) ? id : null;
}

/** The names in the path, for a record whose resource is not in the path: for a refused publication of a version, its template. */
export function namedInPath({ input }: Pick<Invocation, 'input'>): { path_parameters?: Record<string, unknown> } {
  const named = Object.entries(input.params ?? {}).filter(([, value]) => isName(value));
  return named.length > 0 ? { path_parameters: Object.fromEntries(named) } : {};
}

function isName(text: unknown): text is string {
  return typeof text === 'string' && /^[\w.-]{1,128}$/.test(text);
}

/** The path parameter that follows the name of the operation's resource: `keyID` in `/service-accounts/:id/api-keys/:keyID`. */
function resourceParameterOf(operation: Operation): string | undefined {
  const type = resourceTypeOf(operation);
  const pairs = routeOf(operation).path.matchAll(/([\w-]+)\/:(\w+)/g);
  const named = [...pairs].filter(([, segment = '']) => isNameOf(type, segment.replaceAll('-', '_')));
  return named.at(-1)?.[2];
}

/** Whether a segment of a path names a type of resources, in full or without its qualifier, as `members` does `team_members`. */
function isNameOf(type: string, segment: string): boolean {
  return type === segment || type.endsWith(`_${segment}`);
}
