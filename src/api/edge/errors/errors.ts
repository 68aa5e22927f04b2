import type { FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import findMyWay from 'find-my-way';
import { logFailure } from '../log-options.ts';
import { supportIdOf } from '../request-id.ts';
import { answerError, type ErrorAnswer, unknownPath } from './error-answers.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A malformed request, or one of another content type, is 400 `{ error: { code, message } }` with this code, as `can-i` must. */
    malformedCode?: string;
    /** The route shows a page to a browser, and so do its errors. */
    page?: boolean;
  }
}

export type ErrorsOptions = {
  /** Shows an error to somebody who looks at a page; without it, they too get JSON. */
  sendPage?: SendErrorPage;
};

export type SendErrorPage = (
  answer: ErrorAnswer,
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<FastifyReply>;

/**
 * Every error is `{ "error": "message" }`, or a page where a person looks at pages, here and nowhere else. A failure of this service is logged with its stack
 * under the `X-Support-ID` that the client gets, and tells the client nothing else. A path that is known by other
 * methods answers 405 with `Allow`. Specification, *Errors*.
 */
export const errors = fp<ErrorsOptions>(
  async (app, { sendPage }) => {
    const routes = new RouteTable();
    app.addHook('onRoute', (route) => routes.add(route.method, route.url));
    app.setErrorHandler((error, request, reply) => sendError(error, request, reply, sendPage));
    app.setNotFoundHandler((request, reply) => {
      const allowed = routes.methodsOf(request.raw.url ?? '/');
      const answer = allowed.length > 0 ? wrongMethod(request.method, allowed) : unknownPath;
      return sendAnswer(answer, request, reply, sendPage);
    });
  },
  { name: 'errors', fastify: '5.x', dependencies: ['request-id', 'strict-json'] },
);

/** Answers an error; for the framework's hooks and for code outside a route (see `server-options.ts`). */
export function sendError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  sendPage?: SendErrorPage,
): FastifyReply | Promise<FastifyReply> {
  const answer = answerError(error, request);
  if (answer.log === 'failure') logFailure(request.log, error, supportIdOf(request), 'request failed by an error');
  if (answer.log === 'warning') request.log.warn({ err: error }, 'the database refused a change');
  return sendAnswer(answer, request, reply, sendPage);
}

function sendAnswer(
  answer: ErrorAnswer,
  request: FastifyRequest,
  reply: FastifyReply,
  sendPage?: SendErrorPage,
): FastifyReply | Promise<FastifyReply> {
  if (answer.status >= 500) reply.header('x-support-id', supportIdOf(request));
  const { status, body } = shapeAnswer(answer, request);
  reply
    .code(status)
    .headers({ ...answer.headers })
    .header('cache-control', 'no-store');
  if (sendPage && isForPage(request)) return sendPage(answer, request, reply);
  return reply
    .type('application/json; charset=utf-8')
    .serializer((body: unknown) => JSON.stringify(body))
    .send(body);
}

/** What is asked of a page, or by a browser outside the API of what is not there. */
function isForPage(request: FastifyRequest): boolean {
  if (!request.is404) return request.routeOptions.config.page ?? false;
  const isApi = /^\/api(?:[/?#]|$)/.test(request.url);
  return !isApi && (request.headers.accept ?? '').includes('text/html');
}

function shapeAnswer({ status, body }: ErrorAnswer, request: FastifyRequest): { status: number; body: object } {
  const code = request.routeOptions.config?.malformedCode;
  const isMalformed = status === 400 || status === 415;
  return isMalformed && code !== undefined
    ? { status: 400, body: { error: { code, message: body.error } } }
    : { status, body };
}

function wrongMethod(method: string, allowed: readonly string[]): ErrorAnswer {
  const list = allowed.join(', ');
  return {
    status: 405,
    body: { error: `${method} is not allowed here: use ${list}` },
    headers: { allow: list },
    log: 'nothing',
  };
}

/** Which methods each path knows; the router itself tells only whether a method and a path go together. */
class RouteTable {
  readonly #router = findMyWay();
  readonly #methods = new Set<findMyWay.HTTPMethod>();

  add(method: string | string[], url: string): void {
    for (const each of [method].flat() as findMyWay.HTTPMethod[]) {
      this.#methods.add(each);
      if (!this.#router.hasRoute(each, url)) this.#router.on(each, url, () => {});
    }
  }

  methodsOf(address: string): string[] {
    const [path = '/'] = address.split(/[?#]/, 1);
    return [...this.#methods].filter((method) => this.#router.find(method, path) !== null).sort();
  }
}
