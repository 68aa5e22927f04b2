import type { Logger } from 'pino';
import type { Em } from '#database/database.ts';
import { emailKey } from '#domain/identity/model.ts';
import { countMails, tooManyMails } from '#domain/messages/queue/mail-limits.ts';
import { noMailServer, SendingFailure, trySending } from '#domain/messages/sending-failure.ts';
import { channelTest } from '#domain/news/topics.ts';
import type { ChannelTarget } from '#domain/notification-channels/store.ts';
import { newId } from '#domain/shared/ids.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { LimitSubject } from '#domain/shared/tasks/limit-subject.ts';
import { describeChannel, recipientOf } from './prepare-notification.ts';
import { findWithheldAddresses } from './recipients-store.ts';
import { type SendDeps, sendMessage } from './send-message.ts';

/** The result of a test for one recipient. */
export interface TestResult {
  /** An address, or the host of an address that is sealed. */
  readonly recipient: string;
  /** Null: it was accepted. */
  readonly problem: string | null;
}

interface TestDeps extends SendDeps {
  readonly em: Em;
  readonly keyRing: KeyRing;
  readonly log: Logger;
  readonly linkOrigin: string | null;
}

type TestedChannel = Pick<ChannelTarget, 'channel' | 'organizationId'>;

/**
 * Counts the mails that a test sends. A refused test does not count towards the limit of an address. A recipient who gets no mail counts
 * only for the caller, so others may still send to that address, and the limit does not reveal to the caller that such a user exists.
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
 * Why no mail can be sent at all; null if the mail server accepts the service. The test checks this before the addresses, because otherwise
 * the answers for an unusable server would reveal to which addresses the service would send.
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
    await sendMessage(deps, { id: newId(), to, wording, news: { kind: channelTest, subject: null } });
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
 * The only answer for every address that the mail server refuses, and for every withheld address. With different answers, managers of a
 * channel could find out which addresses belong to users of other organizations.
 */
const notDelivered =
  "the test did not reach this address: the mail server refused it, or the service does not send to it. An operator finds the mail server's code in the log";

/** Why sending fails, in words for those who manage the channel; null if it succeeds. */
async function findProblem({ log }: TestDeps, { channel }: TestedChannel, act: () => Promise<void>) {
  const failure = await trySending(log, { what: 'test', channel_id: channel.id }, act);
  return failure ? failure.message : null;
}
