import { createHash } from 'node:crypto';
import type { Em } from '#database/database.ts';
import { emailKey } from '#domain/identity/model.ts';
import { ServiceError } from '#domain/shared/errors.ts';
import { incrementCounts, type RateLimit } from '#domain/shared/rate-counts/store.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

/** How many mails callers may have sent to addresses whose owners need not have asked for them. */
export const mailLimits = {
  /** By one caller to one address, within ten minutes and within a day. */
  toAddress: { soon: 3, daily: 6 },
  /** To one address by all callers, within a day. */
  ofAddress: { daily: 20 },
  /** Commands of one caller that send mails, to whatever addresses. */
  ofCaller: { soon: 100, daily: 1_000 },
} as const;

/**
 * Counts a mail that a command sends to each of these addresses: an invitation, a link, or a test of a channel. All processes share the counts. In a
 * transaction they are only kept if it commits.
 * @throws ServiceError (`limited`, with the time to wait) if a count is beyond its limit: then the command must send none of the mails
 */
export async function countMails(em: Em, callerId: string, addresses: readonly string[]): Promise<void> {
  const limits = [...new Set(addresses.map(emailKey))].flatMap((address) => limitsTo(address, callerId));
  limits.push(...ofEachWindow(`caller ${callerId}`, mailLimits.ofCaller));
  const counts = await incrementCounts(em, limits);
  counts.forEach(({ count, seconds }, at) => {
    if (count > (limits[at]?.maximum ?? 0)) throw tooMany(seconds);
  });
}

function limitsTo(address: string, callerId: string): RateLimit[] {
  return [
    ...ofEachWindow(`to ${address} ${callerId}`, mailLimits.toAddress),
    { key: keyOf(`to ${address}`), maximum: mailLimits.ofAddress.daily, windowMs: day },
  ];
}

function ofEachWindow(what: string, { soon, daily }: { readonly soon: number; readonly daily: number }): RateLimit[] {
  return [
    { key: keyOf(`${what} soon`), maximum: soon, windowMs: 10 * minute },
    { key: keyOf(`${what} daily`), maximum: daily, windowMs: day },
  ];
}

/** Addresses are not readable in the counts. */
function keyOf(what: string): string {
  return `mail:${createHash('sha256').update(what).digest('hex')}`;
}

function tooMany(seconds: number): ServiceError {
  const message = 'too many mails were sent to this address, or by you: nothing was sent; try again later';
  return new ServiceError('limited', message, { retryAfter: seconds });
}
