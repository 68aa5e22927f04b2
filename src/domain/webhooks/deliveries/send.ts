import type { Logger } from 'pino';
import { OutboundFailure, type OutboundHttp } from '#domain/shared/outbound/outbound-http.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { signedHeaders } from '#domain/shared/signing/signed-headers.ts';
import { directionControls } from '#domain/shared/values/text.ts';
import type { Webhook } from '../entity.ts';
import { keptAnswerBytes, sendTimeoutMs } from '../model.ts';
import { webhookSecrets } from '../secrets.ts';

/** The result of one request. */
export interface Outcome {
  /** Null: there was no complete answer. */
  readonly status: number | null;
  readonly ms: number;
  /** The beginning of the answer, without secrets; null: there was none. */
  readonly text: string | null;
  /** Why the delivery counts as failed; null: it was delivered. */
  readonly problem: string | null;
}

interface Message {
  readonly id: string;
  readonly body: string;
}

interface Endpoint {
  readonly url: string;
  /** The current secret, and the previous one while it is still valid. */
  readonly secrets: readonly string[];
}

/** Sends a message once. Every failure of the endpoint is an outcome; only an answer with a status of 2xx counts as delivered. */
async function sendMessage(http: OutboundHttp, endpoint: Endpoint, message: Message): Promise<Outcome> {
  const begun = performance.now();
  const took = () => Math.round(performance.now() - begun);
  const timestamp = Math.floor(Date.now() / 1000);
  const signed = signedHeaders({ ...message, timestamp }, endpoint.secrets);
  try {
    const { status, body } = await http.send({
      method: 'POST',
      url: endpoint.url,
      headers: { 'content-type': 'application/json', 'user-agent': 'delivery-coordinator-webhooks', ...signed },
      body: message.body,
      timeoutMs: sendTimeoutMs,
      maxBytes: keptAnswerBytes,
    });
    const text = toKeptText(body, endpoint.secrets, signed['webhook-signature']);
    return { status, ms: took(), text, problem: problemOf(status) };
  } catch (error) {
    if (!(error instanceof OutboundFailure)) throw error;
    return { status: null, ms: took(), text: null, problem: error.message };
  }
}

function problemOf(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) return `the endpoint answered ${status}: redirects are not followed`;
  if (status === 410) return 'the endpoint answered 410: it wants no more events';
  return `the endpoint answered ${status}; only 2xx is a delivery`;
}

/**
 * The beginning of an answer as text. It omits characters that PostgreSQL cannot store, and secrets that the endpoint may have sent back.
 */
function toKeptText(body: Buffer, secrets: readonly string[], signature: string): string {
  const text = new TextDecoder().decode(body).replaceAll(unprintable, '\u{fffd}');
  const hidden = [...secrets, ...secrets.map((secret) => secret.replace(/^whsec_/, '')), ...signature.split(/[ ,]/)];
  return hidden
    .filter((secret) => secret.length > 8)
    .reduce((kept, secret) => kept.replaceAll(secret, '[hidden]'), text);
}

const unprintable = new RegExp(
  `[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u061c\\u200b-\\u200f\\u2028\\u2029\\u2060-\\u2065\\ufeff${directionControls}]`,
  'g',
);

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
