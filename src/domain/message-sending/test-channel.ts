import type { Logger } from 'pino';
import type { Em } from '#database/database.ts';
import { emailKey } from '#domain/identity/model.ts';
import { countMails, tooManyMails } from '#domain/messages/queue/mail-limits.ts';
import { SendingFailure } from '#domain/messages/sending-failure.ts';
import { channelTest } from '#domain/news/topics.ts';
import type { ChannelTarget } from '#domain/notification-channels/store.ts';
import { newId } from '#domain/shared/ids.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { type CarryDeps, carry } from './carry.ts';
import { describeChannel, recipientOf } from './prepare-notification.ts';
import { findThoseWhoMayNotHear } from './recipients-store.ts';

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
 * Counts the mails that a test sends. A test that is refused uses up nothing of what may be sent to an address. A recipient who gets none counts for the
 * caller alone: others may send that address as much as before, and the caller cannot tell by the limit that there is such a user.
 * @throws ServiceError (`limited`)
 */
export function countTest(em: Em, callerId: string, target: TestedChannel): Promise<void> {
  return em.transactional(async (tx) => {
    const recipients = target.channel.recipients ?? [];
    const unreached = await findThoseWhoMayNotHear(tx, target, recipients);
    const seconds = await countMails(tx, callerId, recipients, unreached);
    if (seconds !== null) throw tooManyMails(seconds);
  });
}

/** Sends a test to each recipient of a channel now. Every failure is a result. */
export function testChannel(deps: TestDeps, target: TestedChannel): Promise<TestResult[]> {
  const { recipients, host } = target.channel;
  const all = recipients ? recipients.map((address) => [address, address] as const) : [[null, host ?? ''] as const];
  const unreached = recipients ? findThoseWhoMayNotHear(deps.em, target, recipients) : noAddresses;
  return Promise.all(
    all.map(async ([address, recipient]) => ({
      recipient,
      problem: await tryToSend(deps, target, address, unreached),
    })),
  );
}

const noAddresses: Promise<ReadonlySet<string>> = Promise.resolve(new Set<string>());

async function tryToSend(
  deps: TestDeps,
  target: TestedChannel,
  address: string | null,
  unreached: Promise<ReadonlySet<string>>,
) {
  const { id, name } = target.channel;
  try {
    const to = recipientOf(target, deps.keyRing, address);
    if (!to) return 'the channel has no such recipient';
    if (to.medium === 'email' && (await unreached).has(emailKey(to.address))) return notAccepted;
    const wording = {
      subject: 'Test of a notification channel',
      lines: ['Somebody who manages the channel sent this test. Nothing has happened.'],
      link: deps.linkOrigin === null ? null : { label: 'Open the service', url: deps.linkOrigin },
      reason: describeChannel(name),
    };
    await carry(deps, { id: newId(), to, wording, news: { kind: channelTest, subject: null } });
    return null;
  } catch (error) {
    if (error instanceof SendingFailure) return describeFailure(deps, target, error);
    deps.log.error({ err: error, channel_id: id }, 'could not make or send the test of a notification channel');
    return 'the service could not make or send the test; its log says why';
  }
}

/**
 * One sentence for every reason that lies in an address. With several, whoever manages a channel could type addresses and learn which of them
 * belong to users of other organizations.
 */
export const notAccepted =
  'this address gets nothing by this channel: the mail server does not accept mail for it, or the service does not send it what the channel hears';

function describeFailure({ log }: TestDeps, { channel }: TestedChannel, error: SendingFailure): string {
  if (channel.kind !== 'email' || !error.isFinal) return error.message;
  log.info(
    { channel_id: channel.id, problem: error.message },
    'the mail server refused the test of a notification channel',
  );
  return notAccepted;
}
