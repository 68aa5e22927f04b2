import { randomBytes } from 'node:crypto';
import argon2 from 'argon2';

/** argon2id at OWASP's first recommendation: 19 MiB, two passes. */
const cost = { type: argon2.argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** At most this many at once: each takes 19 MiB and a thread of the pool that files and DNS use too. */
const maximumConcurrent = 2;
let running = 0;
const waiting: (() => void)[] = [];

export function hashPassword(password: string): Promise<string> {
  return inTurn(() => argon2.hash(password, cost));
}

/** Whether the password is the one that was hashed. Takes as long for nobody (`null`) as for somebody. */
export async function verifyPassword(hash: string | null, password: string): Promise<boolean> {
  const against = hash ?? (await nobodysHash());
  const matches = await inTurn(() => argon2.verify(against, password));
  return matches && hash !== null;
}

let nobody: Promise<string> | undefined;
function nobodysHash(): Promise<string> {
  nobody ??= hashPassword(randomBytes(24).toString('base64'));
  return nobody;
}

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= maximumConcurrent) await new Promise<void>((resolve) => waiting.push(resolve));
  else running += 1;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}
