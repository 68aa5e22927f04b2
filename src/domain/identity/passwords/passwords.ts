import argon2 from 'argon2';
import { ConcurrencyLimit } from '#domain/shared/tasks/concurrency-limit.ts';

/** argon2id at OWASP's first recommendation: 19 MiB, two passes. */
const cost = { type: argon2.argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/**
 * Two hashes at once take 38 MiB and half of the thread pool that files and DNS use too; the event loop stays free. The service computes
 * about seventy hashes per second, so the last one in a full queue waits about a second.
 */
const limit = new ConcurrencyLimit({
  running: 2,
  queue: { length: 64, refusal: 'too many passwords are being checked at this moment: try again in a few seconds' },
});

/** A dummy hash of current cost that no known password matches. */
const unmatchableHash = `$argon2id$v=19$m=${cost.memoryCost},p=1,t=${cost.timeCost}$${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** @throws Unavailable if too many hashes are waiting */
export function hashPassword(password: string): Promise<string> {
  return limit.run(() => argon2.hash(password, cost));
}

/**
 * Whether a hash is that of the password. Without a hash (`null`: there is no such user) it does the same work and returns
 * false.
 * @throws Unavailable if too many hashes are waiting
 */
export async function verifyPassword(hash: string | null, password: string): Promise<boolean> {
  const matches = await limit.run(() => argon2.verify(hash ?? unmatchableHash, password));
  return matches && hash !== null;
}

/** Whether a hash was made at a lower cost than the present one. */
export function isOutdated(hash: string): boolean {
  return workOf(hash) < cost.memoryCost * cost.timeCost;
}

/** The kibibytes that making a hash writes: memory times passes. */
function workOf(hash: string): number {
  const parameter = (name: string) => Number(new RegExp(`[$,]${name}=(\\d+)`).exec(hash)?.[1] ?? 0);
  return parameter('m') * parameter('t');
}
