import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';

export interface Heard {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Endpoint {
  readonly url: string;
  readonly heard: Heard[];
  /** What it answers from now on; `hang`: nothing. */
  answers: { status: number; text?: string; headers?: Record<string, string> } | 'hang';
  close(): Promise<void>;
}

/** An endpoint of a webhook on this machine. */
export async function startEndpoint(): Promise<Endpoint> {
  const heard: Heard[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      heard.push({ path: String(request.url), headers: request.headers, body: Buffer.concat(parts).toString() });
      if (endpoint.answers === 'hang') return;
      response.writeHead(endpoint.answers.status, endpoint.answers.headers).end(endpoint.answers.text ?? '');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint: Endpoint = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    heard,
    answers: { status: 204 },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return endpoint;
}

/** Whether the library of Standard Webhooks finds a request signed by this secret. */
export function isSignedBy(secret: string, { headers, body }: Heard): boolean {
  const sent = Object.entries(headers).map(([name, value]) => [name, String(value)]);
  try {
    new Webhook(secret).verify(body, Object.fromEntries(sent));
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}
