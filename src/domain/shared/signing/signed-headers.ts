import { createHmac, randomBytes } from 'node:crypto';

const prefix = 'whsec_';

/** A new secret of 32 random bytes, as Standard Webhooks writes it. */
export function makeSecret(): string {
  return prefix + randomBytes(32).toString('base64');
}

export interface SignedMessage {
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly body: string;
}

/**
 * The headers of a message (https://www.standardwebhooks.com): one signature for each secret. The signature covers id, time and
 * body, so none of them can be exchanged.
 */
export function signedHeaders({ id, timestamp, body }: SignedMessage, secrets: readonly string[]) {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
}
