import { STATUS_CODES } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import findMyWay from 'find-my-way';
import Negotiator from 'negotiator';
import { canIPagePath } from '../can-i-page.ts';
import { logFailure } from '../log-options.ts';
import { supportIdOf } from '../request-id.ts';
import {
  type AdaptErrorAnswer,
  type AdaptedErrorAnswer,
  answerError,
  type ErrorAnswer,
  unknownPath,
} from './error-answers.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Changes the answers to errors on this route. */
    adaptErrorAnswer?: AdaptErrorAnswer;
    /** The route shows a page to a browser, so its errors are pages too. */
    page?: boolean;
    /** The route exists only to refuse its method: the path has others. */
    refusesMethod?: boolean;
  }
}

export type ErrorsOptions = {
  /** Sends an error as a page to a browser. Without it, browsers get JSON. */
  sendPage?: SendErrorPage;
};

export type SendErrorPage = (
  answer: ErrorAnswer,
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<FastifyReply>;

/**
 * Answers every error as `{ "error": "message" }`, or as a page to a browser. A failure of this service is logged with its
 * stack under the `X-Support-ID` that the client gets, and the client gets no other details. A path that exists for other
 * methods answers 405 with `Allow`. (specification, *Errors*)
 */
export const errors = fp<ErrorsOptions>(
  async (app, { sendPage }) => {
    const routes = new RouteTable();
    app.addHook('onRoute', ({ method, url, config }) => {
      if (!config?.refusesMethod) routes.add(method, url);
    });
    const sendNotFound = (request: FastifyRequest, reply: FastifyReply) => {
      const allowed = routes.methodsOf(request.raw.url ?? '/');
      const answer = allowed.length > 0 ? wrongMethod(request.method, allowed) : unknownPath;
      return sendAnswer(answer, request, reply, sendPage);
    };
    app.setErrorHandler((error, request, reply) =>
      request.is404 && isAboutContentType(error)
        ? sendNotFound(request, reply)
        : sendError(error, request, reply, sendPage),
    );
    app.setNotFoundHandler(sendNotFound);
  },
  { name: 'errors', fastify: '5.x', dependencies: ['request-id', 'strict-json'] },
);

/** Whether an error is about the content type. Fastify checks it for some methods, such as QUERY, even without a matching route. */
function isAboutContentType(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE' || code?.startsWith('FST_ERR_CTP_') === true;
}

/** Logs an error and answers it. Fastify's own error hooks use it too (see `server-options.ts`). */
export function sendError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  sendPage?: SendErrorPage,
): FastifyReply | Promise<FastifyReply> {
  const answer = answerError(error, request);
  if (answer.log === 'failure')
    logFailure(request.log, error, supportIdOf(request), 'the request failed with an error');
  if (answer.log === 'warning')
    request.log.warn({ err: error }, 'the database refused a change that conflicts with a concurrent one');
  const adapt = request.routeOptions.config?.adaptErrorAnswer;
  if (adapt) return sendJson(adapt(answer, error), request, reply);
  return sendAnswer(answer, request, reply, sendPage);
}

function sendAnswer(
  answer: ErrorAnswer,
  request: FastifyRequest,
  reply: FastifyReply,
  sendPage?: SendErrorPage,
): FastifyReply | Promise<FastifyReply> {
  if (!sendPage || !isForBrowser(request)) {
    return prefersProblem(request) ? sendProblem(answer, request, reply) : sendJson(answer, request, reply);
  }
  return sendPage(answer, request, setStatus(answer, request, reply));
}

function sendJson(answer: AdaptedErrorAnswer, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return setStatus(answer, request, reply)
    .type('application/json; charset=utf-8')
    .serializer((body: unknown) => JSON.stringify(body))
    .send(answer.body);
}

/** Answers an error to programs in the form of RFC 9457: with a code and the single problems. */
function sendProblem(answer: ErrorAnswer, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, code, body, errors } = answer;
  const { error: detail, outcome } = body;
  const problem = { type: 'about:blank', title: STATUS_CODES[status], status, detail, code, errors, outcome };
  return setStatus(answer, request, reply)
    .type('application/problem+json')
    .serializer((value: unknown) => JSON.stringify(value))
    .send(problem);
}

function prefersProblem({ headers }: FastifyRequest): boolean {
  const types = ['application/json', 'application/problem+json'];
  const accept = headers.accept ?? '*/*';
  return new Negotiator({ headers: { accept } }).mediaTypes(types)[0] === 'application/problem+json';
}

function setStatus(
  { status, code, headers }: AdaptedErrorAnswer,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  reply.header('x-error-code', code);
  if (status >= 500) reply.header('x-support-id', supportIdOf(request));
  if (status === 403) reply.header('link', `<${canIPagePath}>; rel="help"`);
  if (status === 401) reply.header('www-authenticate', 'Bearer realm="delivery-coordinator"');
  return reply
    .code(status)
    .headers({ ...headers })
    .header('cache-control', 'no-store');
}

/** True for the routes of pages, and for unknown paths outside the API if the client accepts HTML. */
function isForBrowser(request: FastifyRequest): boolean {
  if (!request.is404) return request.routeOptions.config.page ?? false;
  return !isApiPath(request.url) && (request.headers.accept ?? '').includes('text/html');
}

export function isApiPath(url: string): boolean {
  return /^\/api(?:[/?#]|$)/.test(url);
}

function wrongMethod(method: string, allowed: readonly string[]): ErrorAnswer {
  const list = allowed.join(', ');
  return {
    status: 405,
    code: 'method_not_allowed',
    body: { error: `${method} is not allowed here: use ${list}` },
    headers: { allow: list },
    log: 'nothing',
  };
}

/** Knows the methods of every path. Fastify's own router can only check a path together with one method. */
class RouteTable {
  readonly #router = findMyWay();
  readonly #methods = new Set<findMyWay.HTTPMethod>();

  add(method: string | string[], url: string): void {
    for (const each of [method].flat() as findMyWay.HTTPMethod[]) {
      this.#methods.add(each);
      if (!this.#router.hasRoute(each, url)) this.#router.on(each, url, () => {}, url);
    }
  }

  /** An address such as `/versions/check` also matches `/versions/{version}`. The path with the fewest parameters counts. */
  methodsOf(address: string): string[] {
    const [path = '/'] = address.split(/[?#]/, 1);
    const found = [...this.#methods].flatMap((method) => {
      const route = this.#router.find(method, path);
      return route ? [{ method, parameters: countParameters(String(route.store)) }] : [];
    });
    const fewest = Math.min(...found.map(({ parameters }) => parameters));
    return found
      .filter(({ parameters }) => parameters === fewest)
      .map(({ method }) => method)
      .sort();
  }
}

function countParameters(path: string): number {
  return path.split('/').filter((part) => /[:*]/.test(part)).length;
}
