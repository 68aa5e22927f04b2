import argon2 from 'argon2';
import { ConcurrencyLimit } from '#domain/shared/concurrency-limit.ts';

/** argon2id at OWASP's first recommendation: 19 MiB, two passes. */
const cost = { type: argon2.argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/**
 * Two hashes at once take 38 MiB and half of the thread pool that files and DNS share, and do not block the event loop. About
 * seventy are done in a second, so the last one in the queue waits for about a second.
 */
const limit = new ConcurrencyLimit({
  running: 2,
  waiting: 64,
  refusal: 'too many passwords are being checked at this moment: try again in a few seconds',
});

/** Looks like a hash of today's cost, and is nobody's: no password is known that leads to it. */
const nobodysHash = `$argon2id$v=19$m=${cost.memoryCost},p=1,t=${cost.timeCost}$${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** @throws Unavailable where too many wait */
export function hashPassword(password: string): Promise<string> {
  return limit.run(() => argon2.hash(password, cost));
}

/**
 * Whether the password is the one that was hashed. The work is the same for nobody (`null`) as for somebody.
 * @throws Unavailable where too many wait
 */
export async function verifyPassword(hash: string | null, password: string): Promise<boolean> {
  const matches = await limit.run(() => argon2.verify(hash ?? nobodysHash, password));
  return matches && hash !== null;
}

/** Whether a hash was made when hashing cost less than today. */
export function isOutdated(hash: string): boolean {
  return workOf(hash) < cost.memoryCost * cost.timeCost;
}

/** Kibibytes written: memory times passes. */
function workOf(hash: string): number {
  const parameter = (name: string) => Number(new RegExp(`[$,]${name}=(\\d+)`).exec(hash)?.[1] ?? 0);
  return parameter('m') * parameter('t');
}
