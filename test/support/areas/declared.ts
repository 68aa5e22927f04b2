import type { AreaDeclarations, DeclaredResource } from './declaration.ts';
import * as areas from './list.ts';

type Areas = typeof areas;
type ResourcesOf<Area> = Area extends { readonly resources: infer Resources } ? keyof Resources : never;

/** The names of the resources that areas declare. */
export type DeclaredName = { [Name in keyof Areas]: ResourcesOf<Areas[Name]> }[keyof Areas];

type RecordName = 'bodies' | 'setups' | 'answers' | 'otherwise' | 'replaces' | 'refusals';
type ListName = 'forAdministrators' | 'hiddenFromOthers' | 'namedOwners';

const all: readonly AreaDeclarations[] = Object.values(areas);

/** What all areas declare by the ids of operations. */
export function mergeDeclared<Name extends RecordName>(name: Name): NonNullable<AreaDeclarations[Name]> {
  return Object.assign({}, ...all.map((area) => area[name]));
}

/** What all areas declare as lists, in one list. */
export function listDeclared<Name extends ListName>(name: Name): NonNullable<AreaDeclarations[Name]>[number][] {
  return all.flatMap((area): readonly unknown[] => area[name] ?? []) as NonNullable<AreaDeclarations[Name]>[number][];
}

/** The lines of all areas about the access that operations demand. */
export const declaredAccess = all.map(({ access }) => access.trim()).join('\n');

export const declaredContent = all.flatMap(({ show }) => show ?? []);

export const declaredResources = Object.assign({}, ...all.map(({ resources }) => resources)) as Readonly<
  Record<DeclaredName, DeclaredResource>
>;
export const declaredNames = Object.keys(declaredResources) as DeclaredName[];
