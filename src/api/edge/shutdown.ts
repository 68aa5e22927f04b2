import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { HttpProblem } from './errors/http-problem.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Aborts when the server begins to stop: streams end, waits are abandoned, probes answer not ready. */
    stopping: AbortSignal;
    /** Begins the stop without closing yet, so that load balancers can remove the server first. */
    announceStop: () => void;
  }
  interface FastifyContextConfig {
    /** The route also answers while the server is stopping (probes). */
    whileStopping?: boolean;
  }
}

/**
 * Stops gracefully: requests in progress are answered and their connections closed. New requests are answered with 503, so
 * that clients try another server.
 */
export const shutdown = fp(
  async (app) => {
    const stop = new AbortController();
    app.decorate('stopping', stop.signal);
    app.decorate('announceStop', () => stop.abort());
    let closing = false;
    app.addHook('preClose', async () => {
      closing = true;
      stop.abort();
    });
    app.addHook('onRequest', async (request) => {
      if (!closing || request.routeOptions.config.whileStopping) return;
      throw new HttpProblem(503, 'the service is stopping: try again', { headers: { 'retry-after': '1' } });
    });
    app.addHook('onSend', async (_request, reply) => {
      if (stop.signal.aborted) reply.header('connection', 'close');
    });
    app.addHook('onResponse', async () => {
      // The headers of an event stream announced keep-alive before the stop began.
      if (closing) setImmediate(() => app.server.closeIdleConnections());
    });
  },
  { name: 'shutdown', fastify: '5.x', dependencies: ['errors'] },
);

export type StopOptions = {
  /** Milliseconds from reporting "not ready" until connections are refused; 0 without a load balancer. */
  announceFor?: number;
  /** Milliseconds for requests to finish. Then their connections are closed. */
  within: number;
};

/** Stops a server: announces, waits, closes, and after `within` closes all connections. Returns whether all requests finished. */
export async function stopServer(app: FastifyInstance, options: StopOptions): Promise<boolean> {
  app.announceStop();
  if (options.announceFor) await new Promise((resolve) => setTimeout(resolve, options.announceFor));
  let finished = true;
  const deadline = setTimeout(() => {
    finished = false;
    app.log.warn('closing the connections of requests that did not finish within the time to stop');
    app.server.closeAllConnections();
  }, options.within);
  try {
    await app.close();
  } finally {
    clearTimeout(deadline);
  }
  return finished;
}
