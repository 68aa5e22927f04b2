import { z } from 'zod';
import { canIPagePath } from '#api/edge/can-i-page.ts';
import type { AdaptedErrorAnswer, ErrorAnswer } from '#api/edge/errors/error-answers.ts';
import { isDependencyUnavailable } from '#api/edge/errors/unavailability.ts';
import { own } from '#api/identity/session-operations.ts';
import { catalogueOf } from '#api/pipeline/catalogue.ts';
import { read } from '#api/pipeline/operation.ts';
import { AuthorizationUnavailable } from '#domain/shared/access/principal.ts';
import { readCaller } from '#domain/shared/access/store.ts';
import { Invalid } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { apiGroup, apiVersion } from '#domain/shared/installation/release.ts';
import { evaluationErrorCodes, reasonCodes, reviewAccess } from './access-review.ts';
import { reviewed } from './reviewed-target.ts';

/** A single name. Wildcards, selectors, namespaces and subresources all need other characters. */
const Name = z.string().regex(/^[\w.-]{1,253}$/, {
  error: 'expected one name of letters, digits and ". _ -"; wildcards, selectors and subresources are not reviewed',
});
const Word = z.string().max(64);

const ReviewRequest = z
  .strictObject({
    resource_attributes: z.strictObject({
      group: z.literal(apiGroup, { error: `expected "${apiGroup}"` }),
      version: z.literal(apiVersion, { error: `expected "${apiVersion}"` }),
      resource: Word.describe('The kind of resource, in the plural, such as `runs`.'),
      verb: Word.describe('What you would do to it, such as `get`, `list`, `create`, `update`, `delete` or `approve`.'),
      name: Name.optional().describe(
        'The id of the resource; for organizations also a slug or a former slug, for settings `global`. Left out where the ' +
          'review is about a collection.',
      ),
      team_id: Id.optional().describe('The team that owns the resource; refused for resources without teams.'),
    }),
  })
  .meta({
    id: 'AccessReview',
    example: {
      resource_attributes: {
        group: apiGroup,
        version: apiVersion,
        resource: 'runs',
        verb: 'cancel',
        name: '019aa5c2-7d31-7cc4-9c55-0d6a1f6c8b11',
        team_id: '019aa5c2-8a02-7b53-8f0e-5a1a4c1d2e33',
      },
    },
  })
  .meta({ id: 'ReviewRequest' });

const ReviewStatus = z
  .object({
    allowed: z.boolean(),
    denied: z.boolean(),
    reason: z.object({ code: z.enum(reasonCodes), message: z.string() }).optional(),
    evaluation_error: z.object({ code: z.enum(evaluationErrorCodes), message: z.string() }).optional(),
  })
  .describe('Exactly one of `reason` (allowed or denied) and `evaluation_error` (undecided, so neither).')
  .meta({ id: 'ReviewStatus' });

const MalformedReview = z
  .object({ error: z.object({ code: z.literal('malformed_review'), message: z.string() }) })
  .describe('The request is not a valid access review')
  .meta({ id: 'MalformedReview' });

/** (specification, *POST /api/v1/auth/can-i*) */
export const canI = read({
  id: 'auth.can_i',
  route: 'POST /api/v1/auth/can-i',
  summary: 'Ask whether you yourself may do something',
  description:
    'Decided as the operation itself decides, which decides again when you call it. The answer does not consider the state of ' +
    'the resource, such as whether a run can still be canceled.',
  moreAbout: canIPagePath,
  body: ReviewRequest,
  responses: { 200: z.object({ status: ReviewStatus }).meta({ id: 'ReviewedAccess' }), 400: MalformedReview },
  access: own,
  target: reviewed,
  adaptErrorAnswer: toReviewError,
  handle: async ({ em, principal, body, operations, services, request, target: { found } }) => {
    refuseImpersonation(request.headers);
    const catalogue = catalogueOf(operations);
    const onFailure = (err: unknown) =>
      services.log.error({ err, request_id: request.requestId }, 'an access review failed');
    const context = { catalogue, principal, em, found, onFailure, readCaller: () => readCaller(em, principal) };
    return { status: await reviewAccess(context, body.resource_attributes) };
  },
});

/**
 * A malformed review, or one with another content type, answers 400 with a code. If the caller cannot be read from the database, the answer
 * is 500 instead of 503. (specification, *Errors*)
 */
function toReviewError(answer: ErrorAnswer, error: unknown): AdaptedErrorAnswer {
  if (answer.status === 400 || answer.status === 415) {
    const body = { error: { code: 'malformed_review', message: answer.body.error } };
    return { status: 400, code: 'invalid_request', headers: answer.headers, body };
  }
  if (error instanceof AuthorizationUnavailable || isDependencyUnavailable(error)) {
    return {
      status: 500,
      code: 'internal_error',
      headers: {},
      body: { error: 'the caller could not be read from the database: try again' },
    };
  }
  return answer;
}

/** Clients of other systems use such headers to ask on behalf of other users. An answer about the caller would mislead them. */
function refuseImpersonation(headers: Readonly<Record<string, unknown>>): void {
  const header = Object.keys(headers).find((name) => /^(x-)?impersonate-/.test(name));
  if (header) throw new Invalid(`${header}: only the caller's own access is reviewed: leave the header out`);
}
