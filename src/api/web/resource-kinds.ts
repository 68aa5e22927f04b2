import type { Resource, ResourceKind } from './declarations/page-list.ts';
import { joinLists } from './declarations/page-lists.ts';
import type { LocalPath } from './paths.ts';

/** The kinds of resources that have a page, by their type in the API and in audit records. */
const resourceKinds = joinLists('kinds');

type Declared = (typeof resourceKinds)[keyof typeof resourceKinds];
export type KindWithPage = Declared['kind'];

const byKind = new Map<KindWithPage, ResourceKind>(Object.values(resourceKinds).map((each) => [each.kind, each]));

/** A kind of resource that has a page. */
export function resourceKindOf(kind: KindWithPage): ResourceKind {
  const found = byKind.get(kind);
  if (!found) throw new Error(`the kind "${kind}" is not declared`);
  return found;
}

/** The kind of a type in the API or in audit records; null if it has no page. */
export function kindOfType(type: string): KindWithPage | null {
  return Object.hasOwn(resourceKinds, type) ? resourceKinds[type as keyof typeof resourceKinds].kind : null;
}

/**
 * The address of a resource; null if its type has no page. The resource may no longer exist, or the reader may not be allowed to see it.
 */
export function findResourcePath(type: string, resource: Resource): LocalPath | null {
  const declared: ResourceKind | null = Object.hasOwn(resourceKinds, type)
    ? resourceKinds[type as keyof typeof resourceKinds]
    : null;
  return declared?.page(resource) || null;
}
