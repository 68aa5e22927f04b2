import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { pauseAfter } from '#domain/messages/model.ts';
import type { DueMessage } from '#domain/messages/queue/lease-store.ts';
import { type Settlement, settleMessage } from '#domain/messages/queue/settle-store.ts';
import { SendingFailure } from '#domain/messages/sending-failure.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { type CarryDeps, carry } from './carry.ts';
import { prepareMessage } from './prepare.ts';

export interface MessageDeps extends CarryDeps {
  readonly orm: Orm;
  readonly log: Logger;
  readonly keyRing: KeyRing;
  /** The origin that links lead to; null: messages have no links. */
  readonly linkOrigin: string | null;
}

/** Sends a leased message once and records the result. A message that failed is tried again later, unless the server refused its recipient. */
export async function deliverMessage(deps: MessageDeps, message: DueMessage): Promise<void> {
  await settleMessage(deps.orm.em.fork(), message, await tryToSend(deps, message));
}

async function tryToSend(deps: MessageDeps, message: DueMessage): Promise<Settlement> {
  try {
    const { orm, keyRing, linkOrigin } = deps;
    const prepared = await prepareMessage({ em: orm.em.fork(), keyRing, linkOrigin }, message);
    if ('withhold' in prepared) return { status: 'withheld', problem: prepared.withhold };
    await carry(deps, { id: message.id, news: null, ...prepared });
    return { status: 'sent' };
  } catch (error) {
    if (error instanceof SendingFailure) return afterFailure(message, error.message, error.isFinal);
    deps.log.error({ err: error, message_id: message.id }, 'could not make or send a message');
    return afterFailure(message, 'the service could not make or send the message; its log says why');
  }
}

function afterFailure({ attempts }: DueMessage, problem: string, isFinal = false): Settlement {
  const pauseMs = isFinal ? null : pauseAfter(attempts);
  return pauseMs === null ? { status: 'failed', problem } : { status: 'pending', problem, pauseMs };
}
