import { z } from 'zod';
import { humanName } from '#domain/shared/values/human-name.ts';

export const ResourceName = humanName(100);

const slugPattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
export const Slug = z
  .string()
  .regex(slugPattern, { error: 'expected 1-63 lowercase letters, digits and inner hyphens, such as "core-network"' });

/** Makes a slug from a name: `Core Network` → `core-network`. Empty if the name has no letter or digit of a slug. */
export function slugify(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replace(/^-+|-+$/g, '');
}

interface Named {
  readonly name: string;
  readonly slug: string;
}

/** The fields of a resource to be created. Without a slug, the service makes one from the name. */
export type NewNamed<Fields extends Named = Named> = Omit<Fields, 'slug'> & { readonly slug?: string | undefined };

/** The revision on which a change is based. The change is refused if the resource now has another one. */
export interface RevisionCheck {
  readonly expectedRevision?: number | undefined;
}

/** New values for some of the fields; absent ones stay as they are. */
export type ChangeOf<Fields> = RevisionCheck & { readonly [Name in keyof Fields]?: Fields[Name] | undefined };

export type Renaming = ChangeOf<Named>;
