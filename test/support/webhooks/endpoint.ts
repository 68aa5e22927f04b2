import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Heard {
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
      heard.push({ headers: request.headers, body: Buffer.concat(parts).toString() });
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

/** Whether a request is signed by a secret, as the specification of Standard Webhooks says it is checked. */
export function isSignedBy(secret: string, { headers, body }: Heard): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const expected = createHmac('sha256', key).update(content).digest();
  return String(headers['webhook-signature'])
    .split(' ')
    .map((signature) => Buffer.from(signature.replace(/^v1,/, ''), 'base64'))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected));
}
