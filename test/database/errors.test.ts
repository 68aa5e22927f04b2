import { describe, expect, it } from 'vitest';
import { isConnectionError, isDatabaseRefusal, isDatabaseUnreachable, isTransientError } from '#database/errors.ts';
import { openDatabase } from '#open-database';
import { createDatabase } from '#test/support/database/database.ts';
import { databaseFailures } from '#test/support/database/database-failures.ts';

const questionsOf = (error: unknown) => ({
  isConnectionError: isConnectionError(error),
  isUnreachable: isDatabaseUnreachable(error),
  isTransient: isTransientError(error),
});

const answersFor = {
  disconnected: { isConnectionError: true, isUnreachable: true, isTransient: false },
  readOnly: { isConnectionError: false, isUnreachable: true, isTransient: false },
  temporary: { isConnectionError: false, isUnreachable: false, isTransient: true },
  final: { isConnectionError: false, isUnreachable: false, isTransient: false },
};

describe('an error of the database', () => {
  it.each(databaseFailures)('%s is %s', (_what, kind, error) => {
    expect(questionsOf(error)).toEqual(answersFor[kind]);
  });

  it.each(databaseFailures)(
    '%s is %s as the cause of another error and as one of several errors',
    (_w, kind, error) => {
      expect(questionsOf(new Error('the command failed', { cause: error }))).toEqual(answersFor[kind]);
      expect(questionsOf(new AggregateError([error], ''))).toEqual(answersFor[kind]);
    },
  );

  it.each([undefined, null, 'Connection terminated', { code: '57P01' }])('%s is not a database error', (thrown) => {
    expect(questionsOf(thrown)).toEqual(answersFor.final);
    expect(isDatabaseRefusal(thrown)).toBe(false);
  });

  it('counts as an unreachable database if the server is a standby that accepts no writes', async () => {
    const database = await createDatabase();
    const orm = openDatabase({ databaseUrl: database.url, databasePoolSize: 1 });
    try {
      const lock = 'select id from users for update';
      const locked = orm.em.fork().transactional((em) => em.execute(lock), { readOnly: true });
      await expect(locked).rejects.toSatisfy(isDatabaseUnreachable);
      await expect(locked).rejects.toThrow('cannot execute SELECT FOR UPDATE in a read-only transaction');
    } finally {
      await orm.close();
      await database.drop();
    }
  });

  it.each([
    ['22003', true],
    ['40P01', true],
    ['P0001', true],
    ['25006', false],
    ['57P01', false],
    ['EPIPE', false],
    ['EPERM', false],
    ['EROFS', false],
  ])('the code %s says that the database refused the statement: %s', (code, isRefusal) => {
    expect(isDatabaseRefusal(Object.assign(new Error('failed'), { code }))).toBe(isRefusal);
  });
});
