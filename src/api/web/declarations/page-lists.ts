import * as lists from '../../page-lists.ts';

type PageList = (typeof lists)[keyof typeof lists];

/** The member with this name in the list of one area, if it has one. */
type Listed<Name extends string, List = PageList> = List extends { readonly [Each in Name]: infer Part } ? Part : never;

/** All members of all parts. */
type Joined<Part> = (Part extends unknown ? (part: Part) => void : never) extends (all: infer All) => void
  ? { readonly [Member in keyof All]: All[Member] }
  : never;

/** Joins the members with this name from the lists of all areas. @throws Error if two areas list the same member */
export function joinLists<Name extends 'pages' | 'confirmations' | 'kinds'>(name: Name): Joined<Listed<Name>> {
  const parts: readonly { readonly [Each in Name]?: object }[] = Object.values(lists);
  const members = parts.flatMap((list) => Object.entries(list[name] ?? {}));
  const joined = Object.fromEntries(members);
  if (Object.keys(joined).length < members.length) throw new Error(`two areas list the same member of their ${name}`);
  return joined as Joined<Listed<Name>>;
}
