import { Conflict, Invalid } from '#domain/shared/errors.ts';
import { brokenConstraint } from '#domain/shared/sql.ts';
import { slugify } from './model.ts';

/** The slug that was given, or one made from the name. */
export function chooseSlug({ name, slug }: { name: string; slug?: string | undefined }): string {
  const chosen = slug ?? slugify(name);
  if (chosen === '') throw new Invalid('slug: the name has no letter or digit to make one from, so give one');
  return chosen;
}

/**
 * Writes something under its slug; the database judges whether that is free.
 * @throws Conflict naming the slug where something else in `place` has it
 */
export async function underSlug<T>(slug: string, place: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (brokenConstraint(error)?.endsWith('_slug_unique')) throw slugTaken(slug, place);
    throw error;
  }
}

export function slugTaken(slug: string, place: string): Conflict {
  return new Conflict(`slug: "${slug}" is taken in ${place}: choose another`);
}
