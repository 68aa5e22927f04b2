import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The first receipt of a message at an endpoint, and how often it came. */
export interface Receipt {
  /** Unix time in milliseconds. */
  readonly firstAt: number;
  readonly messageId: string;
  readonly ordinal: number;
  count: number;
}

/** Many endpoints of webhooks at one port. */
export interface WebhookReceiver {
  urlOf(endpoint: string): string;
  /** Never answers. */
  readonly hangingUrl: string;
  /** What an endpoint has received, by the id of the event. */
  receiptsOf(endpoint: string): ReadonlyMap<string, Receipt>;
  /** How many requests the endpoint that hangs had at the same time at the most. */
  readonly maxHanging: number;
  /** Messages that came again with another `webhook-id` or ordinal than before. */
  readonly contradictions: readonly string[];
  close(): Promise<void>;
}

/** Receives what the service sends, and answers 204 at once. */
export async function openWebhookReceiver(): Promise<WebhookReceiver> {
  const receipts = new Map<string, Map<string, Receipt>>();
  const contradictions: string[] = [];
  const hanging = { now: 0, max: 0 };
  const server = createServer((request, response) => {
    if (request.url === '/hang') return hang(request, hanging);
    void receive(request, response, receipts, contradictions);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    urlOf: (endpoint) => `${origin}/hook/${endpoint}`,
    hangingUrl: `${origin}/hang`,
    receiptsOf: (endpoint) => receipts.get(`/hook/${endpoint}`) ?? new Map(),
    get maxHanging() {
      return hanging.max;
    },
    contradictions,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function hang(request: IncomingMessage, hanging: { now: number; max: number }): void {
  hanging.now += 1;
  hanging.max = Math.max(hanging.max, hanging.now);
  request.resume();
  request.socket.once('close', () => {
    hanging.now -= 1;
  });
}

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  receipts: Map<string, Map<string, Receipt>>,
  contradictions: string[],
): Promise<void> {
  const at = Date.now();
  const parts: Buffer[] = [];
  try {
    for await (const part of request) parts.push(part);
  } catch {
    return; // the sender was killed before it had sent everything, so the message was not received
  }
  response.writeHead(204).end();
  const { data } = JSON.parse(Buffer.concat(parts).toString());
  const endpoint = request.url ?? '';
  const messageId = String(request.headers['webhook-id']);
  const ofEndpoint = receipts.get(endpoint) ?? new Map<string, Receipt>();
  receipts.set(endpoint, ofEndpoint);
  const known = ofEndpoint.get(data.event_id);
  if (!known) {
    ofEndpoint.set(data.event_id, { firstAt: at, messageId, ordinal: data.ordinal, count: 1 });
    return;
  }
  known.count += 1;
  if (known.messageId !== messageId || known.ordinal !== data.ordinal)
    contradictions.push(`${endpoint} got the event ${data.event_id} as ${known.messageId} and as ${messageId}`);
}
