import { createHash } from 'node:crypto';
import { Invalid } from '#domain/shared/errors.ts';
import type { Operation } from '../operation.ts';

/**
 * Takes the mark of the operation off a cursor. A cursor says where a page starts. In another list, it would silently start the page at the
 * wrong place, so every cursor carries the mark of its list.
 * @throws Invalid for a cursor of another list
 */
export function takeCursor<Query>({ id }: Pick<Operation, 'id'>, query: Query): Query {
  const { cursor } = Object(query) as { readonly cursor?: unknown };
  if (typeof cursor !== 'string') return query;
  const mark = markOf(id);
  if (!cursor.startsWith(mark)) throw new Invalid('cursor: expected a next_cursor of this list, unchanged');
  return { ...query, cursor: cursor.slice(mark.length) };
}

/** The answer of a list, with the mark of the operation in front of its cursor. */
export function giveCursor<Answer>(operation: Pick<Operation, 'id'>, answer: Answer): Answer {
  if (!isPage(answer)) return answer;
  return { ...answer, next_cursor: markCursor(operation, answer.next_cursor) };
}

/** Puts the mark of the operation in front of a place in its list. */
export function markCursor({ id }: Pick<Operation, 'id'>, place: string): string {
  return markOf(id) + place;
}

function isPage(answer: unknown): answer is { readonly next_cursor: string } {
  const isPlain = typeof answer === 'object' && answer !== null && Object.getPrototypeOf(answer) === Object.prototype;
  return isPlain && 'next_cursor' in answer && typeof answer.next_cursor === 'string';
}

const marks = new Map<string, string>();

/** Six characters that name the operation. */
function markOf(id: string): string {
  const known = marks.get(id);
  if (known !== undefined) return known;
  const mark = createHash('sha256').update(id).digest('base64url').slice(0, 6);
  marks.set(id, mark);
  return mark;
}
