import type { Logger } from 'pino';
import type { OutboundHttp } from '#domain/shared/outbound/outbound-http.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { Webhook } from '../entity.ts';
import { webhookSecrets } from '../secrets.ts';
import { type Message, type Outcome, sendMessage } from './send.ts';

export interface AttemptDeps {
  readonly log: Logger;
  readonly keyRing: KeyRing;
  readonly http: OutboundHttp;
}

/**
 * Sends a message to a webhook once. Every failure is an outcome. An unexpected failure of the service, such as a secret that it cannot
 * decrypt, counts like a failure of the endpoint, and the log has its cause.
 */
export async function tryToSend(
  { log, keyRing, http }: AttemptDeps,
  webhook: Webhook,
  makeMessage: () => Message,
): Promise<Outcome> {
  const begun = performance.now();
  try {
    return await sendMessage(http, { url: webhook.url, secrets: webhookSecrets.open(keyRing, webhook) }, makeMessage());
  } catch (error) {
    log.error({ err: error, webhook_id: webhook.id }, 'could not make or send the request of a webhook');
    const problem = 'the service could not make or send the request; its log says why';
    return { status: null, ms: Math.round(performance.now() - begun), text: null, problem };
  }
}
