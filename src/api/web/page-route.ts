import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isSameOrigin } from '#api/edge/same-origin.ts';
import { pageHeaders } from '#api/edge/security-headers.ts';
import { authenticateVisitor } from '#api/pipeline/authentication.ts';
import { anonymous } from '#domain/shared/access/principal.ts';
import { Forbidden, Unauthenticated } from '#domain/shared/errors.ts';
import { seeOther } from './layout.ts';
import type { PageContext } from './page-operations.ts';
import { pagePath, pages } from './paths.ts';

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** Adds a page (`GET /path`) or a form (`POST /path`). In its handler, `request.principal` is the visitor or `anonymous`. */
export type AddPage = (route: `${'GET' | 'POST'} /${string}`, handler: Handler) => void;

/**
 * Gives every page its security headers, its visitor, the check that a form comes from this service, error pages, and the
 * detour over the sign-in page if the visitor must sign in first.
 */
export function pageAdder(app: FastifyInstance, { services }: PageContext): AddPage {
  return (route, handler) => {
    const [method, url] = route.split(' ') as ['GET' | 'POST', string];
    const isForm = method === 'POST';
    app.route({
      method,
      url,
      helmet: pageHeaders,
      config: { page: true, anyQuery: true, form: isForm },
      onRequest: async (request, reply) => {
        if (isForm) refuseCrossSiteForm(request, services.config.baseUrl);
        request.principal = (await authenticateVisitor(services, request)) ?? anonymous;
        await app.countRequest(request, reply);
      },
      handler: async (request, reply) => {
        try {
          return await handler(request, reply);
        } catch (error) {
          if (isForm || isSignedIn(request) || !(error instanceof Unauthenticated)) throw error;
          return seeOther(reply, pagePath(pages.login, {}, { next: request.url }));
        }
      },
    });
  };
}

export function isSignedIn(request: FastifyRequest): boolean {
  return request.principal !== anonymous;
}

/**
 * Rejects a form that does not prove that a page of this service sent it, with a session or without: another site must not
 * be able to sign a visitor in as somebody else (login CSRF). Browsers always send one of the two headers with a form.
 */
function refuseCrossSiteForm(request: FastifyRequest, baseUrl: string | null): void {
  if (isSameOrigin(request, baseUrl)) return;
  throw new Forbidden('this form was not sent by a page of this service: open the page here and submit it again');
}
