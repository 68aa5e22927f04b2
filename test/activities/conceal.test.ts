import { CancelledFailure } from '@temporalio/activity';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { concealFailures } from '#activities/conceal.ts';

const silent = pino({ level: 'silent' });

describe('an activity that fails', () => {
  it('tells the engine its name and nothing of the error', async () => {
    const failing = {
      doIt: async () => Promise.reject(new Error('insert into t values (hunter2)', { cause: new Error('hunter2') })),
    };
    const failure = await concealFailures(failing, silent)
      .doIt()
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ message: 'doIt failed; the log of the worker says why' });
    expect(JSON.stringify(failure, Object.getOwnPropertyNames(failure))).not.toContain('hunter2');
  });

  it('is still canceled where it was canceled', async () => {
    const canceled = { doIt: async () => Promise.reject(new CancelledFailure('hunter2')) };
    const failure = await concealFailures(canceled, silent)
      .doIt()
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(CancelledFailure);
    expect(String(failure)).not.toContain('hunter2');
  });
});
