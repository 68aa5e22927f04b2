import { Invalid } from '#domain/shared/errors.ts';
import { slugify } from './model.ts';

/** The slug, or one made from the name if there is no slug. @throws Invalid if none can be made */
export function chooseSlug({ name, slug }: { name: string; slug?: string | undefined }): string {
  const chosen = slug ?? slugify(name);
  if (chosen === '') throw new Invalid('slug: none can be made from the name, so give one such as "core-network"');
  return chosen;
}
