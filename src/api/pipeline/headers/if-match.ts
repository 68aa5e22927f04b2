import { z } from 'zod';
import { Invalid } from '#domain/shared/errors.ts';
import type { RequestMetadata } from '../call.ts';
import type { Erased, Operation } from '../operation.ts';

const entityTag = /^"(0|[1-9]\d{0,8})"$/;

/** Whether a command compares `If-Match` with the revision of what it changes. */
export function honoursIfMatch(operation: Operation): boolean {
  return operation.kind === 'command' && (operation.ifMatch !== undefined || takesExpectedRevision(operation));
}

/** The member of the body that `If-Match` sets; undefined if the handler gets the revision. */
export function memberOf(operation: Operation): string | undefined {
  if (operation.kind === 'command' && typeof operation.ifMatch === 'string') return operation.ifMatch;
  return takesExpectedRevision(operation) ? 'expected_revision' : undefined;
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
 * The body of a command, with the revision from `If-Match` as its `expected_revision`, or as the member that the operation declares. An
 * entity tag is the revision in quotes. `*` only requires that the resource exists, which every change requires anyway.
 * @throws Invalid if the command compares no revision, or if the header is not an entity tag or differs from the body
 */
export function withExpectedRevision(operation: Operation, headers: RequestMetadata['headers'], body: Erased): Erased {
  const revision = revisionOf(headers);
  if (revision === undefined) return body;
  if (!honoursIfMatch(operation)) throw new Invalid('If-Match: this operation does not compare a revision: send none');
  const member = memberOf(operation);
  if (member === undefined) return body;
  const given = (body as Record<string, unknown>)[member];
  return { ...body, [member]: agreeOn({ 'If-Match': revision, [member]: given as number | undefined }) };
}

/**
 * The revision in `If-Match`, for the handler; undefined if the header demands none or sets a member of the
 * body.
 */
export function demandedRevision(operation: Operation, headers: RequestMetadata['headers']): number | undefined {
  return memberOf(operation) === undefined ? revisionOf(headers) : undefined;
}

/**
 * The revision that a request is based on, from the header or from either member of the body. `place` is the path of these members in the
 * body, for errors.
 * @throws Invalid if the request names two revisions
 */
export function revisionFor(
  body: { readonly expected_revision?: number | undefined; readonly revision?: number | undefined },
  headers: RequestMetadata['headers'],
  place = '',
): number | undefined {
  return agreeOn({
    'If-Match': revisionOf(headers),
    [`${place}expected_revision`]: body.expected_revision,
    [`${place}revision`]: body.revision,
  });
}

function agreeOn(named: Readonly<Record<string, number | undefined>>): number | undefined {
  const [first, ...others] = Object.entries(named).filter(([, revision]) => revision !== undefined);
  const other = others.find(([, revision]) => revision !== first?.[1]);
  if (first && other) throw new Invalid(`${first[0]} and ${other[0]} name different revisions: send one of them`);
  return first?.[1];
}

/** The revision in `If-Match`; undefined if any will do. @throws Invalid if the header is not an entity tag */
function revisionOf(headers: RequestMetadata['headers']): number | undefined {
  const header = headers['if-match'];
  if (header === undefined || header === '*') return undefined;
  const revision = entityTag.exec(String(header))?.[1];
  if (revision === undefined) throw new Invalid('If-Match: expected the revision in quotes, such as "3", or *');
  return Number(revision);
}
