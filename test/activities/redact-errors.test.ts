import { CancelledFailure } from '@temporalio/activity';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { redactActivityErrors } from '#activities/redact-errors.ts';

const silent = pino({ level: 'silent' });

describe('an activity that fails', () => {
  it('reports only its name to the engine, without the error', async () => {
    const failing = {
      doIt: async () => Promise.reject(new Error('insert into t values (hunter2)', { cause: new Error('hunter2') })),
    };
    const failure = await redactActivityErrors(failing, silent)
      .doIt()
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ message: "doIt failed; see the worker's log" });
    expect(JSON.stringify(failure, Object.getOwnPropertyNames(failure))).not.toContain('hunter2');
  });

  it('stays canceled if it was canceled, without the message', async () => {
    const canceled = { doIt: async () => Promise.reject(new CancelledFailure('hunter2')) };
    const failure = await redactActivityErrors(canceled, silent)
      .doIt()
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(CancelledFailure);
    expect(String(failure)).not.toContain('hunter2');
  });
});
