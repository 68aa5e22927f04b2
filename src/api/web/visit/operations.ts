import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { encodeAnswer } from '#api/edge/json/serialization.ts';
import { parsePart } from '#api/edge/json/validation.ts';
import type { EncodedAnswerOf, Responses } from '#api/pipeline/answers/answer-types.ts';
import { RawAnswer } from '#api/pipeline/answers/raw-answer.ts';
import { successStatus } from '#api/pipeline/answers/receipt-answer.ts';
import { formKey } from '#api/pipeline/headers/idempotency.ts';
import { honoursIfMatch, memberOf } from '#api/pipeline/headers/if-match.ts';
import type { Invocation, OperationInput } from '#api/pipeline/invocation/invocation.ts';
import {
  answerCommand,
  authorizeOperation,
  effectivePrincipal,
  invokeCommand,
  invokeRead,
} from '#api/pipeline/invocation/invoke.ts';
import {
  type CommandOperation,
  type Erased,
  isPublic,
  type Operation,
  type ReadOperation,
} from '#api/pipeline/operation.ts';
import { anonymous } from '#domain/shared/access/principal.ts';
import { Conflict, Unauthenticated } from '#domain/shared/errors.ts';
import { type FieldProblem, invalidRequest, type RequestPart } from '#domain/shared/validation/validation-messages.ts';
import type { Services } from '../../services.ts';

/** The operations of the API, and the services that they use. */
export interface PageServices {
  readonly operations: readonly Operation[];
  readonly services: Services;
}

/** The input that a client of the API would send as JSON. The operation's own schemas validate it. */
export interface PageInput {
  readonly params?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
  /** The revision that a client of the API would send as `If-Match`. */
  readonly revision?: number;
}

/** A problem that a page has found in a form. Its path is the name of the field. */
export interface PageProblem extends FieldProblem {
  /** The place of the value in the part of the form that is made from a schema, as a JSON pointer. The path is then empty. */
  readonly pointer?: string;
  /**
   * The places of the value in the body, if they differ from the name of the field. The operation's own problems at these places are left
   * out.
   */
  readonly bodyPaths?: readonly string[];
}

/** The input of a command for a submitted form. */
export interface CommandInput extends PageInput {
  /** The idempotency key that the form sent, if any. */
  readonly key?: string | undefined;
  /** The revision that the form was opened for, if any. A command that compares none ignores it. */
  readonly openedFor?: number | undefined;
  /** Problems that the page found. If there are any, the command is refused with these and its own problems. */
  readonly problems?: readonly PageProblem[];
}

/** The input of an operation whose answer is not JSON. `fileName` makes the answer a download. */
export interface FileInput extends PageInput {
  readonly mediaType: string;
  readonly fileName?: string;
}

/** Invokes a read operation for the visitor of a page. Returns the body that the API would send to them. */
export async function readForPage<S extends Responses>(
  context: PageServices,
  request: FastifyRequest,
  operation: ReadOperation<S>,
  input: PageInput = {},
): Promise<EncodedAnswerOf<S>> {
  const answer = await invokeRead(await authorizeForPage(context, request, operation, input));
  return encode(operation, successStatus(operation), answer);
}

/** Invokes a read operation for the visitor, and sends its answer in this media type, such as text. */
export async function sendForPage(
  context: PageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  operation: ReadOperation,
  { mediaType, fileName, ...input }: FileInput,
): Promise<unknown> {
  const invocation = await authorizeForPage(context, request, operation, input);
  const answer = await invokeRead({ ...invocation, accept: mediaType });
  if (!(answer instanceof RawAnswer)) throw new TypeError(`${operation.id} does not answer ${mediaType}`);
  // The name is safe in a header only now: the operation has validated the path that it contains.
  if (fileName !== undefined) reply.header('content-disposition', `attachment; filename="${fileName}"`);
  return answer.send(request, reply);
}

/**
 * Invokes a command for the visitor who submitted a form, with the same authorization, limits, transaction, audit record, receipt and
 * session cookie as on the operation's own route.
 * Returns the body that the API would send (`ShownAnswer`). @throws what the operation throws; `Invalid` names the fields of the body
 */
export async function runForPage<S extends Responses, A extends ReadOperation | undefined>(
  context: PageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  operation: CommandOperation<S, Erased, A>,
  { key: sentKey, ...given }: CommandInput = {},
): Promise<ShownAnswer<S, A>> {
  const input = withOpenedRevision(operation, given);
  const invocation = await authorizeForPage(context, request, operation, input);
  const key = isPublic(operation.access) ? undefined : sentKey;
  const result = await invokeCommand(invocation, formKey(invocation.operation, key), input.body);
  if (result.replayed && operation.showsOnce) throw new Conflict(shownBefore, 'idempotency_key_reused');
  const { status, body } = await answerCommand(invocation, result, reply);
  const isUnknown = result.replayed && !operation.at;
  return (isUnknown ? undefined : encode(operation, status, body)) as ShownAnswer<S, A>;
}

/**
 * The result of a command for a page. If a form is submitted again, and no read operation shows the result, the result is undefined. That
 * is so for most changes, whose result the page knows anyway.
 */
export type ShownAnswer<S extends Responses, A> = [A] extends [ReadOperation]
  ? EncodedAnswerOf<S>
  : 201 extends keyof S
    ? EncodedAnswerOf<S>
    : EncodedAnswerOf<S> | undefined;

const shownBefore =
  'this form was sent and carried out already, and its answer is shown only once: look for what it made before you send the form again';

/** Authenticates, authorizes and then validates the input: the same order as on the operation's own route. */
export async function authorizeForPage<O extends Operation>(
  context: PageServices,
  request: FastifyRequest,
  operation: O,
  input: CommandInput,
): Promise<Invocation<O>> {
  if (!isPublic(operation.access) && request.principal === anonymous)
    throw new Unauthenticated('you are not signed in');
  const principal = effectivePrincipal(operation, request.principal);
  const unparsed: OperationInput = { params: input.params, query: input.query, body: input.body };
  await authorizeOperation({ ...context, operation, request, principal, input: unparsed });
  const asked = input.revision === undefined ? request : withRevision(request, input.revision);
  return { ...context, operation, request: asked, principal, input: parseInput(operation, input) };
}

/** The input with the revision of the form where the command takes it: in the body, or else as `If-Match`. */
function withOpenedRevision(operation: CommandOperation, { openedFor, ...input }: CommandInput): CommandInput {
  if (openedFor === undefined || !honoursIfMatch(operation)) return input;
  const member = memberOf(operation);
  if (member === undefined) return { revision: openedFor, ...input };
  return { ...input, body: { [member]: openedFor, ...Object(input.body) } };
}

/** The request of a page, with the revision as its `If-Match` header. */
function withRevision(request: FastifyRequest, revision: number): FastifyRequest {
  const headers = { ...request.headers, 'if-match': `"${revision}"` };
  return Object.create(request, { headers: { value: headers, enumerable: true } });
}

function parseInput({ params, query, body }: Operation, input: CommandInput): OperationInput {
  // If the form has problems, nothing is carried out. A part of the path may then be missing, because a field with a problem should have
  // provided it.
  const hasProblems = (input.problems ?? []).length > 0;
  return {
    params: params && !hasProblems ? parseOrThrow(params, 'path', input.params ?? {}) : {},
    query: query ? parseOrThrow(query, 'query', input.query ?? {}) : {},
    body: parseBody(body, input),
  };
}

function parseBody(schema: z.ZodType | undefined, { body, problems = [] }: CommandInput): unknown {
  if (problems.length === 0) return schema && parseOrThrow(schema, 'body', body);
  const { error } = schema ? parsePart(schema, 'body', body) : {};
  const own = (error?.details?.errors ?? []) as readonly FieldProblem[];
  const pathsOf = ({ path, bodyPaths = [] }: PageProblem) => (bodyPaths.length > 0 ? bodyPaths : [path]);
  const known = problems.flatMap(pathsOf).filter((path) => path !== '');
  throw invalidRequest([...problems, ...own.filter(({ path }) => !known.some((each) => isWithin(path, each)))]);
}

function isWithin(path: string, around: string): boolean {
  return path === around || path.startsWith(`${around}.`) || path.startsWith(`${around}[`);
}

function parseOrThrow(schema: z.ZodType, part: RequestPart, given: unknown): unknown {
  const { value, error } = parsePart(schema, part, given);
  if (error) throw error;
  return value;
}

function encode<S extends Responses>(
  { id, responses }: { readonly id: string; readonly responses: S },
  status: number,
  answer: unknown,
): EncodedAnswerOf<S> {
  const schema = responses[status];
  if (!schema) throw new TypeError(`${id} declares no answer with status ${status}`);
  return encodeAnswer(schema, answer, id, String(status)) as EncodedAnswerOf<S>;
}
