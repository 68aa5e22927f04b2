import { Invalid } from '#domain/shared/errors.ts';
import type { RequestMetadata } from './operation.ts';

const entityTag = /^"([1-9]\d{0,8})"$/;

/**
 * The revision that a change expects: from `If-Match`, or from `expected_revision` in the body. An entity tag is the
 * revision in quotes; `*` only requires that the resource exists, which every change requires anyway.
 * @throws Invalid if the header is not an entity tag, or differs from the body
 */
export function expectedRevision({ headers }: Pick<RequestMetadata, 'headers'>, given?: number): number | undefined {
  const header = headers['if-match'];
  if (header === undefined || header === '*') return given;
  const revision = Number(entityTag.exec(String(header))?.[1] ?? 0);
  if (revision === 0) throw new Invalid('If-Match: expected the revision in quotes, such as "3", or *');
  if (given !== undefined && given !== revision)
    throw new Invalid('If-Match and expected_revision name different revisions: send one of them');
  return revision;
}
