import { z } from 'zod';
import { ExpectedRevision } from '#domain/shared/revisions.ts';

/** What an answer shows may be sent back: requests read what they know, and ignore the rest. */

const shown = z.unknown().optional().describe('As it is shown. Ignored.');

/** The body of a request, which may also have every other member that the view of the same thing shows. */
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

/** The revision that an update was made for, by either of the names that requests and answers have for it. */
export const ShownRevision = {
  ...ExpectedRevision,
  revision: ExpectedRevision.expected_revision.describe('The same as `expected_revision`.'),
};
