import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isSameOrigin } from '#api/edge/same-origin.ts';
import { pageHeaders } from '#api/edge/security-headers.ts';
import { authenticateVisitor, sessionCookie } from '#api/pipeline/authentication.ts';
import { anonymous } from '#domain/shared/access/principal.ts';
import { Forbidden, Unauthenticated } from '#domain/shared/errors.ts';
import { seeOther } from './layout.ts';
import type { Ground } from './perform.ts';

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

export const loginPath = '/login';

/** Adds `GET /path`, or the form `POST /path`, with `request.principal` being who looks: a user, or `anonymous`. */
export type AddPage = (route: `${'GET' | 'POST'} /${string}`, handler: Handler) => void;

/**
 * What every page has alike: its headers, who looks at it, where its forms may come from, pages for its errors, and the
 * way through the sign-in page, and back, for who must be somebody to see it.
 */
export function pageAdder(app: FastifyInstance, { services }: Ground): AddPage {
  return (route, handler) => {
    const [method, url] = route.split(' ') as ['GET' | 'POST', string];
    const isForm = method === 'POST';
    app.route({
      method,
      url,
      helmet: pageHeaders,
      config: { page: true, anyQuery: true, form: isForm },
      onRequest: async (request, reply) => {
        if (isForm) refuseForeignForm(request, services.config.baseUrl);
        request.principal = (await authenticateVisitor(services, request)) ?? anonymous;
        await app.countRequest(request, reply);
      },
      handler: async (request, reply) => {
        try {
          return await handler(request, reply);
        } catch (error) {
          if (isForm || isSignedIn(request) || !(error instanceof Unauthenticated)) throw error;
          return seeOther(reply, `${loginPath}?next=${encodeURIComponent(request.url)}`);
        }
      },
    });
  };
}

export function isSignedIn(request: FastifyRequest): boolean {
  return request.principal !== anonymous;
}

/**
 * Also where nobody is signed in: a foreign page must not sign a reader in as somebody else (login CSRF), so such a form
 * says where it comes from. Who has a session is held to the rule of the API: a program may say nothing, as no browser does.
 */
function refuseForeignForm(request: FastifyRequest, baseUrl: string | null): void {
  const isOwn = isSameOrigin(request, baseUrl) ?? request.cookies[sessionCookie] !== undefined;
  if (isOwn) return;
  throw new Forbidden('this form was not sent by a page of this service: open the page here and submit it again');
}
