import Negotiator from 'negotiator';
import { z } from 'zod';
import { HttpProblem } from '#api/edge/errors/http-problem.ts';
import type { Operation } from '../operation.ts';

const json = 'application/json';

const known = new WeakMap<Operation, readonly string[]>();

/** The media types that a success of the operation may have, JSON first. They are found once. */
export function mediaTypesOf(operation: Operation): readonly string[] {
  const types = known.get(operation) ?? findMediaTypes(operation);
  known.set(operation, types);
  return types;
}

function findMediaTypes({ produces = {}, responses }: Operation): readonly string[] {
  const hasJson = !(Object.values(responses)[0] instanceof z.ZodNever);
  return [...(hasJson ? [json] : []), ...Object.keys(produces)];
}

/**
 * Whether the media type of an answer depends on what the client accepts. If not, the operation has one media type, or the request selects
 * one in another way.
 */
export function isNegotiated(operation: Operation): boolean {
  const available = mediaTypesOf(operation);
  return available.length > 1 && available.includes(json);
}

/**
 * The media type that a client prefers among those of the operation (RFC 9110, section 12.5.1). JSON wins a tie. An operation
 * with one media type answers it to every client.
 * @throws HttpProblem (406) if the client accepts none of them
 */
export function negotiateMediaType(operation: Operation, accept: string | string[] | undefined): string {
  const available = mediaTypesOf(operation);
  const [first = json] = available;
  if (!isNegotiated(operation)) return first;
  // Parameters such as charset do not matter here.
  const header = [accept ?? '*/*']
    .flat()
    .join(', ')
    .replaceAll(/;(?!\s*q\s*=)[^;,]*/gi, '');
  const [preferred] = new Negotiator({ headers: { accept: header } }).mediaTypes([...available]);
  if (preferred !== undefined) return preferred;
  throw new HttpProblem(406, `Accept: this operation answers ${available.join(' or ')}`);
}
