/** When a signing key is published and when it signs. Pure. */

/** The longest lifetime of a token, in seconds. */
export const maxTokenSeconds = 3600;
/** How long a key is published before it signs, in seconds. Verifiers that cache the keys for an hour know it by then. */
export const publishedAheadSeconds = 3600;
/** How long verifiers may cache the published keys, in seconds. */
export const keptByVerifiersSeconds = 300;
/** By how many seconds the clocks of verifiers may differ from the database's. */
const clockSkewSeconds = 300;

export interface KeyTimes {
  readonly signsFrom: string;
  readonly createdAt: string;
}

/**
 * `upcoming`: published, and does not sign yet. `retired`: no longer signs, and is published until the last token that it signed has
 * expired.
 */
export type SigningKeyStatus = 'upcoming' | 'signing' | 'retired';
export const signingKeyStatuses = ['upcoming', 'signing', 'retired'] as const satisfies readonly SigningKeyStatus[];

export type Scheduled<Key> = Key & {
  readonly status: SigningKeyStatus;
  /** Null for the newest key. */
  readonly publishedUntil: Date | null;
};

/** The keys that are published at a time, newest first. A key signs until the next one does. */
export function scheduleOf<Key extends KeyTimes>(keys: readonly Key[], now: Date): Scheduled<Key>[] {
  const byStart = keys.toSorted((a, b) => Date.parse(b.signsFrom) - Date.parse(a.signsFrom));
  return byStart
    .map((key, index) => {
      const follower = byStart[index - 1];
      const signsUntil = follower === undefined ? null : Date.parse(follower.signsFrom);
      const publishedUntil = signsUntil === null ? null : later(signsUntil, maxTokenSeconds + clockSkewSeconds);
      return { ...key, status: statusAt(now, Date.parse(key.signsFrom), signsUntil), publishedUntil };
    })
    .filter(({ publishedUntil }) => publishedUntil === null || now < publishedUntil);
}

function statusAt(now: Date, signsFrom: number, signsUntil: number | null): SigningKeyStatus {
  if (now.getTime() < signsFrom) return 'upcoming';
  return signsUntil === null || now.getTime() < signsUntil ? 'signing' : 'retired';
}

/**
 * When the next key of a schedule begins to sign, if it is time to publish it; otherwise null. The very first key signs at once, because
 * verifiers cannot know an older one. A key signs for `days`.
 */
export function startOfDueKey(schedule: readonly Scheduled<KeyTimes>[], now: Date, days: number): Date | null {
  const [newest] = schedule;
  if (newest === undefined) return now;
  if (newest.status === 'upcoming') return null;
  const ends = later(Date.parse(newest.signsFrom), days * 86_400);
  const publish = later(ends.getTime(), -publishedAheadSeconds);
  return now < publish ? null : later(now.getTime(), publishedAheadSeconds);
}

export function later(time: number, seconds: number): Date {
  return new Date(time + seconds * 1000);
}
