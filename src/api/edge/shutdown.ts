import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { HttpProblem } from './errors/http-problem.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Aborts when the server begins to stop: streams end, waits are given up, probes say not ready. */
    stopping: AbortSignal;
    /** Begins the stop without closing yet, so that load balancers can take the server out first. */
    announceStop: () => void;
  }
  interface FastifyContextConfig {
    /** The route answers while the server is stopping too (probes). */
    whileStopping?: boolean;
  }
}

/**
 * Stopping lets requests finish: what is being answered is answered, on a connection that then ends; what comes after is
 * refused with 503, so that the client goes elsewhere.
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
      // A stream's headers promised to keep the connection before anybody knew of the stop.
      if (closing) setImmediate(() => app.server.closeIdleConnections());
    });
  },
  { name: 'shutdown', fastify: '5.x', dependencies: ['errors'] },
);

export type StopOptions = {
  /** Milliseconds between saying "not ready" and refusing connections; 0 where no load balancer looks. */
  announceFor?: number;
  /** Milliseconds for requests to finish; then their connections are cut. */
  within: number;
};

/** Stops a server: announces, waits, closes, and after `within` cuts what is left. Resolves with whether all finished. */
export async function stopServer(app: FastifyInstance, options: StopOptions): Promise<boolean> {
  app.announceStop();
  if (options.announceFor) await new Promise((resolve) => setTimeout(resolve, options.announceFor));
  let finished = true;
  const deadline = setTimeout(() => {
    finished = false;
    app.log.warn('requests that did not finish in time are cut off');
    app.server.closeAllConnections();
  }, options.within);
  try {
    await app.close();
  } finally {
    clearTimeout(deadline);
  }
  return finished;
}
