import pino from 'pino';
import { describe, expect, it } from 'vitest';
import { isDatabaseUnreachable } from '#database/errors.ts';
import { waitForServer } from '#domain/shared/tasks/wait-for-server.ts';

const log = pino({ level: 'silent' });

/** Runs work that fails once with the code. Returns the number of tries, or the error. */
async function tryWith(code: string): Promise<unknown> {
  let tries = 0;
  return waitForServer('database', { isUnreachable: isDatabaseUnreachable, log }, async () => {
    tries += 1;
    if (tries === 1) throw Object.assign(new Error('failed'), { code });
    return tries;
  }).catch((error: unknown) => error);
}

describe('a process that starts', () => {
  it.each([
    ['a name that cannot be resolved yet', 'EAI_AGAIN'],
    ['a network that is not up yet', 'ENETUNREACH'],
    ['a database that is starting', '57P03'],
    ['a standby that is not promoted yet', '25006'],
  ])('waits for %s', async (_what, code) => {
    expect(await tryWith(code)).toBe(2);
  });

  it('throws at once if the SQL statement is wrong', async () => {
    expect(await tryWith('42P01')).toMatchObject({ code: '42P01' });
  });
});
