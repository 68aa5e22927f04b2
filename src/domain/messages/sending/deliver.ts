import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { composeBody } from '../mail/mail-body.ts';
import { MailFailure, type MailServer } from '../mail/mail-server.ts';
import { pauseAfter } from '../model.ts';
import { type DueMessage, type Settlement, settleMessage } from '../queue/due-store.ts';
import { prepareMail } from './prepare.ts';

export interface MessageDeps {
  readonly orm: Orm;
  readonly log: Logger;
  readonly keyRing: KeyRing;
  /** Null: this installation sends no e-mail. */
  readonly mail: MailServer | null;
}

/** Sends a leased message once and records the result. A message that failed is tried again later, unless the server refused its recipient. */
export async function deliverMessage(deps: MessageDeps, message: DueMessage): Promise<void> {
  await settleMessage(deps.orm.em.fork(), message.id, await tryToSend(deps, message));
}

async function tryToSend(deps: MessageDeps, message: DueMessage): Promise<Settlement> {
  try {
    return await sendMail(deps, message);
  } catch (error) {
    if (error instanceof MailFailure) return afterFailure(message, error.message, error.isFinal);
    deps.log.error({ err: error, message_id: message.id }, 'could not make or send a message');
    return afterFailure(message, 'the service could not make or send the message; its log says why');
  }
}

async function sendMail({ orm, keyRing, mail }: MessageDeps, message: DueMessage): Promise<Settlement> {
  if (!mail) return afterFailure(message, 'this worker has no mail server: set COORDINATOR_SMTP_URL');
  const { linkOrigin } = mail.config;
  const prepared = await prepareMail({ em: orm.em.fork(), keyRing, linkOrigin }, message);
  if ('withhold' in prepared) return { status: 'withheld', problem: prepared.withhold };
  const { to, wording } = prepared;
  await mail.send({ id: message.id, to: [to], subject: wording.subject, ...composeBody(wording) });
  return { status: 'sent' };
}

function afterFailure({ attempts }: DueMessage, problem: string, isFinal = false): Settlement {
  const pauseMs = isFinal ? null : pauseAfter(attempts);
  return pauseMs === null ? { status: 'failed', problem } : { status: 'pending', problem, pauseMs };
}
