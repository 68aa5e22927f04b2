import pino from 'pino';
import type { Em } from '#database/database.ts';
import { deliverMessage } from '#domain/message-sending/deliver.ts';
import { MailServer } from '#domain/messages/mail/mail-server.ts';
import { type DueMessage, leaseMessages, mediumGroups } from '#domain/messages/queue/lease-store.ts';
import type { TestApi } from '#test/support/api/in-process-api.ts';

/** Sends what is due, as a worker does, until there is nothing more to send now. */
export async function sendMessages(api: TestApi): Promise<void> {
  const { orm, keyRing, config } = api.services;
  const mail = config.mail && new MailServer(config.mail, config.outbound, { timeoutMs: 3_000 });
  const { outboundHttp: http } = api.services;
  const deps = { orm, keyRing, http, mail, linkOrigin: config.baseUrl, log: pino({ level: 'silent' }) };
  for (;;) {
    const messages = await leaseAll(orm.em.fork(), 100);
    if (messages.length === 0) return;
    await Promise.all(messages.map((message) => deliverMessage(deps, message)));
  }
}

/** Leases what is due in every group, up to so many messages of each lane. */
export async function leaseAll(em: Em, places: number): Promise<DueMessage[]> {
  const leased: DueMessage[] = [];
  for (const group of Object.values(mediumGroups))
    leased.push(...(await leaseMessages(em, { healthy: places, failing: places }, group)));
  return leased;
}

export interface StoredMessage {
  readonly status: string;
  readonly attempts: number;
  readonly problem: string | null;
  readonly has_token: boolean;
}

/** The messages as the database has them, oldest first. */
export function storedMessages(api: TestApi): Promise<StoredMessage[]> {
  return api.rows(
    'select status, attempts, problem, sealed_token is not null as has_token from outgoing_messages order by created_at, id',
  ) as Promise<StoredMessage[]>;
}
