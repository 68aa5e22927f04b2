import { createHash } from 'node:crypto';
import type { Em } from '#database/database.ts';
import { emailKey } from '#domain/identity/model.ts';
import { ServiceError } from '#domain/shared/errors.ts';
import { incrementCounts, type RateLimit } from '#domain/shared/rate-counts/store.ts';
import { keysOf, type LimitSubject } from '#domain/shared/tasks/limit-subject.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

/** The limits for mails that callers cause to addresses whose owners have not requested them. */
export const mailLimits = {
  /** The limits of mails by one person to one address, within ten minutes and within a day. */
  toAddress: { soon: 3, daily: 6 },
  /** To one address by all callers, within a day. */
  ofAddress: { daily: 20 },
  /** Commands of one person that send mails, to any address. */
  ofCaller: { soon: 100, daily: 1_000 },
  /** Such commands of all callers in one organization together. */
  ofOwner: { soon: 500, daily: 5_000 },
} as const;

/**
 * Counts a mail that a command sends to each of these addresses: an invitation, a link, or a test of a channel. All processes share the
 * counts. Call it in a transaction: a command that is refused must not use up what others may send to an address.
 * @param subject the person who answers for the caller, and the organization of what the mail is about
 * @param withheld those of the addresses, in the form by which addresses are compared, that get no mail after all: they count for the
 * subject alone
 * @returns the seconds after which a mail may go again to an address that has got too many from all callers together; null: all may be sent
 * @throws ServiceError (`limited`, with the time to wait) if the caller or the organization has sent too many: then the command must send
 * none of the mails
 */
export async function countMails(
  em: Em,
  subject: LimitSubject,
  addresses: readonly string[],
  withheld: ReadonlySet<string> = new Set(),
): Promise<number | null> {
  const keys = [...new Set(addresses.map(emailKey))];
  const own = keys.flatMap((address) => ofEachWindow(`to ${address} ${subject.person}`, mailLimits.toAddress));
  const [caller, owner] = keysOf(subject);
  own.push(...ofEachWindow(caller, mailLimits.ofCaller), ...ofEachWindow(owner, mailLimits.ofOwner));
  const reached = keys.filter((key) => !withheld.has(key));
  const shared = reached.map((address) => ({
    key: keyOf(`to ${address}`),
    maximum: mailLimits.ofAddress.daily,
    windowMs: day,
  }));
  const limits = [...own, ...shared];
  const counts = await incrementCounts(em, limits);
  const exceeded = limits.flatMap((limit, at) => {
    const { count = 0, seconds = 0 } = counts[at] ?? {};
    return count > limit.maximum ? [{ limit, seconds }] : [];
  });
  const ownExceeded = exceeded.find(({ limit }) => own.includes(limit));
  if (ownExceeded) throw tooManyMails(ownExceeded.seconds);
  return exceeded.length === 0 ? null : Math.max(...exceeded.map(({ seconds }) => seconds));
}

function ofEachWindow(what: string, { soon, daily }: { readonly soon: number; readonly daily: number }): RateLimit[] {
  return [
    { key: keyOf(`${what} soon`), maximum: soon, windowMs: 10 * minute },
    { key: keyOf(`${what} daily`), maximum: daily, windowMs: day },
  ];
}

/** The key of a count, hashed so that it does not contain a readable address. */
function keyOf(what: string): string {
  return `mail:${createHash('sha256').update(what).digest('hex')}`;
}

/** The refusal of a command whose mails may not be sent now. @param seconds how long to wait */
export function tooManyMails(seconds: number): ServiceError {
  const message =
    'too many mails were sent to this address, by you, or by your organization: nothing was sent; try again later';
  return new ServiceError('limited', message, { retryAfter: seconds });
}
