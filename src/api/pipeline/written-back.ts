import { z } from 'zod';
import { ExpectedRevision } from '#domain/shared/revisions.ts';

/** Clients may send back what an answer showed. A request ignores those members of the answer that it does not use. */

const shown = z.unknown().optional().describe('As it is shown. Ignored.');

/** The body of a request that also accepts, and ignores, every other member of the same resource's view. */
export function ignoringShown<Body extends z.core.$ZodShape, View extends z.core.$ZodShape>(
  body: z.ZodObject<Body>,
  view: z.ZodObject<View>,
) {
  const names = Object.keys(view.shape).filter((name) => !(name in body.shape));
  const ignored = Object.fromEntries(names.map((name) => [name, shown])) as {
    [Name in Exclude<keyof View & string, keyof Body>]: typeof shown;
  };
  return z.strictObject({ ...body.shape, ...ignored });
}

/** The revision that an update is based on, by its name in requests or by its name in answers. */
export const ShownRevision = {
  ...ExpectedRevision,
  revision: ExpectedRevision.expected_revision.describe('The same as `expected_revision`.'),
};
