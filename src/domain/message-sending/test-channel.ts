import type { Logger } from 'pino';
import type { Em } from '#database/database.ts';
import { emailKey } from '#domain/identity/model.ts';
import { countMails, tooManyMails } from '#domain/messages/queue/mail-limits.ts';
import { noMailServer, SendingFailure } from '#domain/messages/sending-failure.ts';
import { channelTest } from '#domain/news/topics.ts';
import type { ChannelTarget } from '#domain/notification-channels/store.ts';
import { newId } from '#domain/shared/ids.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { LimitSubject } from '#domain/shared/tasks/limit-subject.ts';
import { type CarryDeps, carry } from './carry.ts';
import { describeChannel, recipientOf } from './prepare-notification.ts';
import { findWithheldAddresses } from './recipients-store.ts';

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
export function countTest(em: Em, subject: LimitSubject, target: TestedChannel): Promise<void> {
  return em.transactional(async (tx) => {
    const recipients = target.channel.recipients ?? [];
    const withheld = await findWithheldAddresses(tx, target, recipients);
    const seconds = await countMails(tx, subject, recipients, withheld);
    if (seconds !== null) throw tooManyMails(seconds);
  });
}

/** Sends a test to each recipient of a channel now. Every failure is a result. */
export async function testChannel(deps: TestDeps, target: TestedChannel): Promise<TestResult[]> {
  const { recipients, host } = target.channel;
  if (!recipients) return [{ recipient: host ?? '', problem: await tryToSend(deps, target, null) }];
  const unusable = await findMailProblem(deps, target);
  if (unusable !== null) return recipients.map((recipient) => ({ recipient, problem: unusable }));
  const withheld = await findWithheldAddresses(deps.em, target, recipients);
  return Promise.all(
    recipients.map(async (recipient) => ({
      recipient,
      problem: withheld.has(emailKey(recipient)) ? withhold(deps, target) : await tryToSend(deps, target, recipient),
    })),
  );
}

/**
 * Why no mail can be sent at all; null if the mail server lets the service in. The test asks this before it looks at the addresses, because the answers
 * for a server that cannot be used would otherwise tell the addresses that the service would send to from the others.
 */
async function findMailProblem(deps: TestDeps, target: TestedChannel): Promise<string | null> {
  const { mail } = deps;
  if (!mail) return noMailServer;
  return findProblem(deps, target, () => mail.probe());
}

async function tryToSend(deps: TestDeps, target: TestedChannel, address: string | null): Promise<string | null> {
  const { kind } = target.channel;
  const problem = await findProblem(deps, target, async () => {
    const to = recipientOf(target, deps.keyRing, address);
    if (!to) throw new SendingFailure('the channel has no such recipient');
    const wording = {
      subject: 'Test of a notification channel',
      lines: ['A manager of the channel sent this test. Nothing has happened.'],
      link: deps.linkOrigin === null ? null : { label: 'Open the service', url: deps.linkOrigin },
      reason: describeChannel(target.channel),
    };
    await carry(deps, { id: newId(), to, wording, news: { kind: channelTest, subject: null } });
  });
  if (problem === null || kind !== 'email') return problem;
  deps.log.info(
    { channel_id: target.channel.id, problem },
    'could not send the test of a notification channel to one of its addresses',
  );
  return notDelivered;
}

function withhold({ log }: TestDeps, { channel }: TestedChannel): string {
  log.info(
    { channel_id: channel.id, problem: 'the address belongs to a user who may not hear of what the channel hears' },
    'withheld the test of a notification channel from one of its addresses',
  );
  return notDelivered;
}

/**
 * The one answer for every address that a usable mail server does not take the test for, and for every withheld address. With several, those who manage a
 * channel could type addresses and learn which of them belong to users of other organizations.
 */
const notDelivered =
  "the test did not reach this address: the mail server refused it, or the service does not send to it. An operator finds the mail server's code in the log";

/** What keeps an act from succeeding, in words for those who manage the channel; null if nothing does. */
async function findProblem(
  { log }: TestDeps,
  { channel }: TestedChannel,
  act: () => Promise<void>,
): Promise<string | null> {
  try {
    await act();
    return null;
  } catch (error) {
    if (error instanceof SendingFailure) return error.message;
    log.error({ err: error, channel_id: channel.id }, 'could not make or send the test of a notification channel');
    return 'the service could not make or send the test; its log says why';
  }
}
