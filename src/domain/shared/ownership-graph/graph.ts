import { declarations, type Kind } from '#domain/ownership.ts';
import type { AnyDeclaration, AnyLink } from './declaration.ts';

const all: readonly AnyDeclaration[] = declarations;
const byKind = new Map(all.map((declaration) => [declaration.kind, declaration]));

/** @throws Error for a kind that no area declares */
export function declarationOf(kind: string): AnyDeclaration {
  const declaration = byKind.get(kind);
  if (!declaration) throw new Error(`no area declares the kind "${kind}" in its ownership.ts`);
  return declaration;
}

/** A kind, followed by the kinds that it extends. */
export function kindsOf(kind: string): string[] {
  const { extends: base } = declarationOf(kind);
  return base === undefined ? [kind] : [kind, ...kindsOf(base)];
}

/** The kind whose table holds the label, the tombstone and the counters of a kind. */
export function baseOf(kind: string): AnyDeclaration {
  return declarationOf(kindsOf(kind).at(-1) ?? kind);
}

/** A link of one kind to another. */
export interface Edge {
  readonly declaration: AnyDeclaration;
  readonly link: AnyLink;
  readonly isOwner: boolean;
}

const edges: readonly Edge[] = all.flatMap((declaration) => [
  ...(declaration.owners ?? []).map((link) => ({ declaration, link, isOwner: true })),
  ...(declaration.references ?? []).map((link) => ({ declaration, link, isOwner: false })),
]);

/** The links to a kind, in the order of the declarations. */
export function edgesTo(kind: Kind): Edge[] {
  const kinds = kindsOf(kind);
  return edges.filter(({ link }) => kinds.includes(link.kind));
}

/** The shortest path from a kind to an owner, starting with a column of the kind; undefined if that owner never owns it. */
export function pathTo(kind: string, owner: string): readonly AnyLink[] | undefined {
  let ways: { readonly at: string; readonly links: readonly AnyLink[] }[] = [{ at: kind, links: [] }];
  const seen = new Set<string>();
  while (ways.length > 0) {
    const found = ways.find(({ at }) => at === owner);
    if (found) return found.links;
    for (const { at } of ways) seen.add(at);
    ways = ways.flatMap(({ at, links }) =>
      (declarationOf(at).owners ?? []).map((link) => ({ at: link.kind, links: [...links, link] })),
    );
    ways = ways.filter(({ at }) => !seen.has(at));
  }
  return undefined;
}

/** The kinds that are below an owner, at any level. */
export function kindsBelow(owner: Kind): AnyDeclaration[] {
  return all.filter(({ kind }) => kind !== owner && pathTo(kind, owner) !== undefined);
}

/** The one column by which a kind names its owner. */
export function ownerColumn(kind: string, owner: string): string {
  const column = declarationOf(kind).owners?.find((link) => link.kind === owner)?.columns[0];
  if (column === undefined) throw new Error(`the kind "${kind}" declares no column for its ${owner}`);
  return column;
}

/** The greatest number of owners above a kind; locks are taken from the outermost inwards. */
export function depthOf(kind: string): number {
  const owners = declarationOf(kind).owners ?? [];
  return Math.max(0, ...owners.map((link) => 1 + depthOf(link.kind)));
}
