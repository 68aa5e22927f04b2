import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import type { Logger } from 'pino';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Config } from '#config';
import { hasBearerToken } from '#domain/shared/bearer-token.ts';
import { addSpanMetrics } from '#domain/shared/tasks/span-metrics.ts';

/** How long a client may take to send its request. */
const requestWithinMs = 5_000;

export interface MetricsServer {
  /** Null: the worker listens on no port. */
  readonly url: string | null;
  /** Null: it serves no metrics. */
  readonly registry: Registry | null;
  close(): Promise<void>;
}

/**
 * Serves `/metrics` of a worker, if the settings give it a port: those of its process, and how long the parts of its work take.
 * @throws Error if the port is not free
 */
export async function openMetricsServer(
  { adminHost, metrics: { workerPort, bearerToken } }: Pick<Config, 'adminHost' | 'metrics'>,
  log: Logger,
): Promise<MetricsServer> {
  if (workerPort === null) return { url: null, registry: null, close: async () => undefined };
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const stopSpans = addSpanMetrics(registry);
  const server = createServer({ requestTimeout: requestWithinMs }, (request, response) => {
    answer(request, response, { registry, bearerToken }).catch((error: unknown) => {
      log.error({ err: error }, 'could not answer a request for metrics');
      response.destroy();
    });
  });
  server.listen(workerPort, adminHost);
  await once(server, 'listening');
  const { address, family, port } = server.address() as AddressInfo;
  const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}/metrics`;
  log.info({ url }, 'serving the metrics of the worker');
  return {
    url,
    registry,
    close: async () => {
      stopSpans();
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { registry, bearerToken }: { readonly registry: Registry; readonly bearerToken: string | null },
): Promise<void> {
  const { method, url, headers } = request;
  if (isForeignName(request)) return refuse(response, 421);
  if (url !== '/metrics') return refuse(response, 404);
  if (method !== 'GET') return refuse(response, 405, { allow: 'GET' });
  if (bearerToken !== null && !hasBearerToken(headers.authorization, bearerToken))
    return refuse(response, 401, { 'www-authenticate': 'Bearer realm="metrics"' });
  const text = await registry.metrics();
  response.writeHead(200, { 'content-type': registry.contentType, 'cache-control': 'no-store' }).end(text);
}

/** Over loopback, only a page of a browser uses another name: one that its owner has pointed to this machine. */
function isForeignName({ headers, socket }: IncomingMessage): boolean {
  if (!/^(::ffff:)?127\.|^::1$/.test(socket.localAddress ?? '')) return false;
  const name = URL.parse(`http://${headers.host}`)?.hostname.replace(/^\[|\]$/g, '') ?? '';
  return name !== 'localhost' && isIP(name) === 0;
}

function refuse(response: ServerResponse, status: number, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(status, headers).end();
}
