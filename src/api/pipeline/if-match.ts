import { Invalid } from '#domain/shared/errors.ts';
import type { Sender } from './operation.ts';

const entityTag = /^"([1-9]\d{0,8})"$/;

/**
 * The revision that a change was made for: what `If-Match` says, or the body's `expected_revision`. An entity tag is the
 * revision in quotes; `*` asks only that the resource is there, which every change asks.
 * @throws Invalid where the header is no entity tag, or says something else than the body
 */
export function expectedRevision({ headers }: Pick<Sender, 'headers'>, given?: number): number | undefined {
  const header = headers['if-match'];
  if (header === undefined || header === '*') return given;
  const revision = Number(entityTag.exec(String(header))?.[1] ?? 0);
  if (revision === 0) throw new Invalid('If-Match: expected the revision in quotes, such as "3", or *');
  if (given !== undefined && given !== revision)
    throw new Invalid('If-Match and expected_revision name different revisions: send one of them');
  return revision;
}
