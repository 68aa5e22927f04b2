import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { formBodyLimit } from '#api/edge/json/strict-json.ts';
import { isReadFromElsewhere, isSameOrigin } from '#api/edge/same-origin.ts';
import { pageHeaders } from '#api/edge/security-headers.ts';
import { authenticateVisitor } from '#api/pipeline/access/authentication.ts';
import { anonymous } from '#domain/shared/access/principal.ts';
import { Forbidden, Invalid, NotFound, Unauthenticated } from '#domain/shared/errors.ts';
import { isId } from '#domain/shared/ids.ts';
import { seeOther } from '../layout.ts';
import { type PagePattern, type ParamsOf, pagePath, pages } from '../paths.ts';
import { findFormerPath } from './sent-form.ts';
import { isSignedIn } from './signed-in.ts';
import { type PageContext, Visit } from './visit.ts';

/** Answers one visit of a page. */
export type PageHandler<Params = unknown> = (visit: Visit<Params>) => Promise<FastifyReply> | FastifyReply;

/** Adds a page (`GET`) or a form (`POST`). */
export type AddPage = <Pattern extends PagePattern>(
  method: 'GET' | 'POST',
  pattern: Pattern,
  handler: PageHandler<ParamsOf<Pattern>>,
  options?: PageOptions,
) => void;

/** Adds one or several pages and forms. */
export type PageDeclaration = (addPage: AddPage) => void;

export interface PageOptions {
  /** The largest form in bytes, if it may be larger than usual. */
  readonly bodyLimit?: number;
  /**
   * Visitors who are not signed in may also see the page or send the form. Without a session, no other handler runs, and no other body is
   * read.
   */
  readonly isPublic?: boolean;
  /** The form sends files (`multipart/form-data`). */
  readonly hasFiles?: boolean;
}

/**
 * Returns a function that adds pages. Every page gets its security headers, its visitor, the check that a form comes from this service,
 * error pages, and a redirect to the sign-in page if necessary.
 */
export function pageAdder(app: FastifyInstance, context: PageContext): AddPage {
  const { services } = context;
  return (method, url, handler, { bodyLimit, hasFiles, isPublic } = {}) => {
    const isForm = method === 'POST';
    app.route({
      method,
      url,
      helmet: pageHeaders,
      ...(isForm && { bodyLimit: bodyLimit ?? formBodyLimit }),
      config: { page: true, anyQuery: true, form: isForm && (hasFiles ? 'files' : true) },
      onRequest: async (request, reply) => {
        if (isForm) refuseCrossSiteForm(request, services.config.baseUrl);
        else refuseReadFromElsewhere(request);
        request.principal = (await authenticateVisitor(services, request)) ?? anonymous;
        await app.countRequest(request, reply);
        if (isForm && !isPublic && !isSignedIn(request)) throw new Unauthenticated('you are not signed in');
      },
      handler: async (request, reply) => {
        if (!isForm && !isPublic && !isSignedIn(request)) return detourOverSignIn(request, reply);
        const visit = new Visit<ParamsOf<typeof url>>(context, request, reply);
        try {
          refuseMalformedId(request);
          const formerPath = isForm && !hasFiles ? await findFormerPath(visit) : undefined;
          return formerPath === undefined ? await handler(visit) : seeOther(reply, formerPath);
        } catch (error) {
          if (isForm || isSignedIn(request) || !(error instanceof Unauthenticated)) throw toPageError(error, request);
          return detourOverSignIn(request, reply);
        }
      },
    });
  };
}

/**
 * Refuses a malformed id, because pages may use the id in their address before an operation has validated it. `orgID` is not checked: an
 * organization may be named by its slug.
 */
function refuseMalformedId({ params }: FastifyRequest): void {
  const { id } = params as { readonly id?: string };
  if (id !== undefined && !isId(id)) throw new NotFound('the page');
}

/** An address with a malformed id is treated as unknown. The format of ids is of no use to people. */
function toPageError(error: unknown, { params }: FastifyRequest): unknown {
  if (!(error instanceof Invalid)) return error;
  const problems = (error.details?.errors ?? []) as readonly { readonly in?: unknown; readonly path?: unknown }[];
  const isOfAddress = problems.some(
    ({ in: part, path }) => part === 'path' && Object.hasOwn(Object(params), String(path)),
  );
  return isOfAddress ? new NotFound('the page') : error;
}

/**
 * Redirects to the sign-in page. If a script requested only a part of a page, the whole page is reloaded, because the part cannot show a
 * sign-in form.
 */
function detourOverSignIn(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (request.headers['hx-request'] === undefined) {
    return seeOther(reply, pagePath(pages.login, {}, { next: request.url }));
  }
  return reply.code(401).header('hx-refresh', 'true').send();
}

/** @throws Forbidden if a page of another origin loads a page or a stream as a part of itself */
function refuseReadFromElsewhere(request: FastifyRequest): void {
  if (!isReadFromElsewhere(request)) return;
  throw new Forbidden('pages of other origins may link to this page, and may not load it: open it in a tab of its own');
}

/**
 * Rejects a form unless it proves that a page of this service sent it, with a session or without. Otherwise, another site could sign a
 * visitor in as another person (login CSRF). Browsers always send one of the two headers with a form.
 */
function refuseCrossSiteForm(request: FastifyRequest, baseUrl: string | null): void {
  if (isSameOrigin(request, baseUrl)) return;
  throw new Forbidden('this form was not sent by a page of this service: open the page here and submit it again');
}
