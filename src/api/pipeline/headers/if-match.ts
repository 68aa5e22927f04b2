import { z } from 'zod';
import { Invalid } from '#domain/shared/errors.ts';
import type { RequestMetadata } from '../call.ts';
import type { Erased, Operation } from '../operation.ts';

const entityTag = /^"([1-9]\d{0,8})"$/;

/** Whether a command compares `If-Match` with the revision of what it changes. */
export function honoursIfMatch(operation: Operation): boolean {
  return operation.kind === 'command' && (operation.ifMatch === true || takesExpectedRevision(operation));
}

function takesExpectedRevision({ body }: Operation): boolean {
  // A body that may be left out is declared with a default.
  const object = body instanceof z.ZodPrefault ? body.unwrap() : body;
  return object instanceof z.ZodObject && 'expected_revision' in object.shape;
}

/** The entity tag of an answer: its revision in quotes; undefined if the answer has no revision. */
export function entityTagOf(answer: unknown): string | undefined {
  const { revision } = Object(answer) as { revision?: unknown };
  return typeof revision === 'number' ? `"${revision}"` : undefined;
}

/**
 * The body of a command, with the revision from `If-Match` as its `expected_revision`. An entity tag is the revision in
 * quotes; `*` only requires that the resource exists, which every change requires anyway.
 * @throws Invalid if the command compares no revision, or if the header is not an entity tag or differs from the body
 */
export function withExpectedRevision(operation: Operation, headers: RequestMetadata['headers'], body: Erased): Erased {
  const revision = revisionOf(headers);
  if (revision === undefined) return body;
  if (!honoursIfMatch(operation)) throw new Invalid('If-Match: this operation does not compare a revision: send none');
  if (!takesExpectedRevision(operation)) return body;
  const { expected_revision: given } = body as { expected_revision?: number };
  if (given !== undefined && given !== revision)
    throw new Invalid('If-Match and expected_revision name different revisions: send one of them');
  return { ...body, expected_revision: revision };
}

/** The revision in `If-Match`; undefined if any will do. @throws Invalid if the header is not an entity tag */
export function revisionOf(headers: RequestMetadata['headers']): number | undefined {
  const header = headers['if-match'];
  if (header === undefined || header === '*') return undefined;
  const revision = Number(entityTag.exec(String(header))?.[1] ?? 0);
  if (revision === 0) throw new Invalid('If-Match: expected the revision in quotes, such as "3", or *');
  return revision;
}
