import * as lists from '../../page-lists.ts';

type PageList = (typeof lists)[keyof typeof lists];

/** What one of the areas lists under a name, if it does. */
type Listed<Name extends string, List = PageList> = List extends { readonly [Each in Name]: infer Part } ? Part : never;

/** All members of all parts. */
type Joined<Part> = (Part extends unknown ? (part: Part) => void : never) extends (all: infer All) => void
  ? { readonly [Member in keyof All]: All[Member] }
  : never;

/** Joins what the areas list under a name. @throws Error if two areas list the same member */
export function joinLists<Name extends 'pages' | 'news' | 'kinds'>(name: Name): Joined<Listed<Name>> {
  const parts: readonly { readonly [Each in Name]?: object }[] = Object.values(lists);
  const members = parts.flatMap((list) => Object.entries(list[name] ?? {}));
  const joined = Object.fromEntries(members);
  if (Object.keys(joined).length < members.length) throw new Error(`two areas list the same member of their ${name}`);
  return joined as Joined<Listed<Name>>;
}
