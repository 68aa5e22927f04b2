import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { pauseAfter } from '#domain/messages/model.ts';
import type { DueMessage } from '#domain/messages/queue/lease-store.ts';
import { type MessageSettlement, settleMessage } from '#domain/messages/queue/settle-store.ts';
import { trySending } from '#domain/messages/sending-failure.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { settlementOf } from '#domain/shared/sending/settlement.ts';
import { prepareMessage } from './prepare.ts';
import { type SendDeps, sendMessage } from './send-message.ts';

export interface MessageDeps extends SendDeps {
  readonly orm: Orm;
  readonly log: Logger;
  readonly keyRing: KeyRing;
  /** The origin that links lead to; null: messages have no links. */
  readonly linkOrigin: string | null;
}

/**
 * Sends a leased message once and records the result. A message that failed is tried again later, unless the server refused its recipient.
 */
export async function deliverMessage(deps: MessageDeps, message: DueMessage): Promise<void> {
  await settleMessage(deps.orm.em.fork(), message, await tryToSend(deps, message));
}

async function tryToSend(deps: MessageDeps, message: DueMessage): Promise<MessageSettlement> {
  const { orm, keyRing, linkOrigin, log } = deps;
  const result = await trySending(log, { what: 'message', message_id: message.id }, async () => {
    const prepared = await prepareMessage({ em: orm.em.fork(), keyRing, linkOrigin }, message);
    if ('withhold' in prepared) return prepared.withhold;
    await sendMessage(deps, { id: message.id, news: null, ...prepared });
    return null;
  });
  if (typeof result === 'string') return { status: 'withheld', problem: result };
  return settlementOf('sent', result?.message ?? null, result?.isFinal ? null : pauseAfter(message.attempts));
}
