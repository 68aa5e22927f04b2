import fp from 'fastify-plugin';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export type HttpMetricsOptions = { registry: Registry };

/** Creates a registry with the metrics of this process. Other parts add their own metrics to it. */
export function createMetricsRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

/**
 * Counts and times requests by method, route pattern (never the address) and status. Event streams are counted when they
 * end, and not timed: they last as long as the client is connected. Requests that waited for a change are not timed either.
 */
export const httpMetrics = fp<HttpMetricsOptions>(
  async (app, { registry }) => {
    const labelNames = ['method', 'route', 'status'] as const;
    const registers = [registry];
    const duration = new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Time to answer a request, by route pattern',
      labelNames,
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    });
    const streams = new Counter({
      name: 'http_streams_total',
      help: 'Event streams that have ended',
      labelNames: ['route'],
      registers,
    });
    const waits = new Counter({
      name: 'http_waits_total',
      help: 'Requests that waited for a change before they were answered',
      labelNames: ['route'],
      registers,
    });
    const aborted = new Counter({
      name: 'http_requests_aborted_total',
      help: 'Requests whose client disconnected before the answer',
      labelNames: ['route'],
      registers,
    });
    const inFlight = new Gauge({
      name: 'http_requests_in_flight',
      help: 'Requests in progress, event streams included',
      registers,
    });

    app.decorateRequest('hasWaited', false);
    app.addHook('onRequest', async (_request, reply) => {
      inFlight.inc();
      reply.raw.once('close', () => inFlight.dec());
    });
    app.addHook('onResponse', async (request, reply) => {
      const route = routeOf(request);
      if (String(reply.getHeader('content-type')).startsWith('text/event-stream')) return streams.inc({ route });
      if (request.hasWaited) return waits.inc({ route });
      duration.observe({ method: request.method, route, status: String(reply.statusCode) }, reply.elapsedTime / 1000);
    });
    app.addHook('onRequestAbort', async (request) => aborted.inc({ route: routeOf(request) }));
  },
  { name: 'http-metrics', fastify: '5.x', dependencies: ['request-id'] },
);

function routeOf(request: { is404: boolean; routeOptions: { url: string | undefined } }): string {
  return request.is404 ? 'unmatched' : (request.routeOptions.url ?? 'unmatched');
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The request has waited for a change, so its duration is not recorded. */
    hasWaited: boolean;
  }
}
