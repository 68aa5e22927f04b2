import type { Logger } from 'pino';
import type { Em } from '#database/database.ts';
import { countMails, tooManyMails } from '#domain/messages/queue/mail-limits.ts';
import { SendingFailure } from '#domain/messages/sending-failure.ts';
import { channelTest } from '#domain/news/topics.ts';
import type { ChannelTarget } from '#domain/notification-channels/store.ts';
import { newId } from '#domain/shared/ids.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { type CarryDeps, carry } from './carry.ts';
import { addressMayNotHear, describeChannel, recipientOf } from './prepare-notification.ts';
import { belongsToUserWhoMayNotHear } from './recipients-store.ts';

/** What became of a test for one recipient. */
export interface TestResult {
  /** An address, or the host of an address that is sealed. */
  readonly recipient: string;
  /** Null: it was accepted. */
  readonly problem: string | null;
}

interface TestDeps extends CarryDeps {
  readonly em: Em;
  readonly keyRing: KeyRing;
  readonly log: Logger;
  readonly linkOrigin: string | null;
}

type TestedChannel = Pick<ChannelTarget, 'channel' | 'organizationId'>;

/**
 * Counts the mails that a test sends. A test that is refused uses up nothing of what may be sent to an address, and neither does a recipient who gets none.
 * @throws ServiceError (`limited`)
 */
export function countTest(em: Em, callerId: string, target: TestedChannel): Promise<void> {
  return em.transactional(async (tx) => {
    const recipients: string[] = [];
    for (const address of target.channel.recipients ?? [])
      if (!(await belongsToUserWhoMayNotHear(tx, target, address))) recipients.push(address);
    const seconds = await countMails(tx, callerId, recipients);
    if (seconds !== null) throw tooManyMails(seconds);
  });
}

/** Sends a test to each recipient of a channel now. Every failure is a result. */
export function testChannel(deps: TestDeps, target: TestedChannel): Promise<TestResult[]> {
  const { recipients, host } = target.channel;
  const all = recipients ? recipients.map((address) => [address, address] as const) : [[null, host ?? ''] as const];
  return Promise.all(
    all.map(async ([address, recipient]) => ({ recipient, problem: await tryToSend(deps, target, address) })),
  );
}

async function tryToSend(deps: TestDeps, target: TestedChannel, address: string | null) {
  const { id, name } = target.channel;
  try {
    const to = recipientOf(target, deps.keyRing, address);
    if (!to) return 'the channel has no such recipient';
    if (to.medium === 'email' && (await belongsToUserWhoMayNotHear(deps.em, target, to.address)))
      return addressMayNotHear;
    const wording = {
      subject: 'Test of a notification channel',
      lines: ['Somebody who manages the channel sent this test. Nothing has happened.'],
      link: deps.linkOrigin === null ? null : { label: 'Open the service', url: deps.linkOrigin },
      reason: describeChannel(name),
    };
    await carry(deps, { id: newId(), to, wording, news: { kind: channelTest, subject: null } });
    return null;
  } catch (error) {
    if (error instanceof SendingFailure) return error.message;
    deps.log.error({ err: error, channel_id: id }, 'could not make or send the test of a notification channel');
    return 'the service could not make or send the test; its log says why';
  }
}
