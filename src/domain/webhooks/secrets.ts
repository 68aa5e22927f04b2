import { createHmac, randomBytes } from 'node:crypto';
import type { KeyRing } from '#domain/shared/secrets.ts';

const prefix = 'whsec_';
export const contextOf = (webhookId: string) => ['webhook-secret', webhookId] as const;

/** A new secret of 32 random bytes, as Standard Webhooks writes it. */
export function makeSecret(): string {
  return prefix + randomBytes(32).toString('base64');
}

export function sealSecret(keyRing: KeyRing, webhookId: string, secret: string): Buffer {
  return keyRing.seal(contextOf(webhookId), Buffer.from(secret));
}

export function openSecret(keyRing: KeyRing, webhookId: string, sealed: Uint8Array): string {
  return keyRing.open(contextOf(webhookId), sealed).toString();
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
