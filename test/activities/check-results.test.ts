import { describe, expect, it } from 'vitest';
import { hasModules, joinTried, type Tried, toTried } from '#activities/check-results.ts';
import type { ExecutionResult, Tool } from '#executors/protocol/request.ts';

/** The checks of a version that follow from the results of executors. */

const opentofu: Tool = { name: 'opentofu', version: '1.12.6' };
const terraform: Tool = { name: 'terraform', version: '1.14.0' };
const kinds = ['opentofu', 'terraform'];

function tried(tool: Tool | null, result: Partial<ExecutionResult>): Tried {
  return toTried({ pool: 'default' }, tool, {
    outcome: 'failed',
    reason: null,
    message: null,
    exitCode: null,
    ...result,
  });
}

const report = (message?: string) => ({
  outcome: 'succeeded' as const,
  check: {
    findings: message === undefined ? [] : [{ severity: 'error' as const, message }],
    unchecked: [],
    missingPrograms: [],
  },
});

describe('the result of a check with one tool', () => {
  it.each(['plan_failed', 'init_failed', 'files_invalid'] as const)('says why the check ended after %s', (reason) => {
    expect(tried(opentofu, { reason, message: 'it said too much' })).toMatchObject({
      state: 'not_done',
      notChecked: ['the check could not be made: it said too much'],
    });
  });

  it.each(['executor_failed', 'executor_lost', 'sandbox_unavailable', 'tool_unavailable'] as const)(
    'is another try, with the reason kept, after %s',
    (reason) => {
      expect(tried(opentofu, { reason, message: 'no memory' })).toEqual({
        failure: 'the worker could not check: no memory',
      });
    },
  );

  it('says that the check was stopped at a limit', () => {
    const stopped = { outcome: 'limit_exceeded', reason: 'output_limit', message: 'it printed too much' } as const;
    expect(tried(opentofu, stopped)).toMatchObject({ notChecked: ['the check was stopped: it printed too much'] });
  });

  it('is null if the worker stops', () => {
    expect(tried(opentofu, { outcome: 'canceled', reason: 'canceled' })).toBeNull();
  });
});

describe('the result of a check with both tools', () => {
  const accepts = tried(terraform, report());
  const refuses = tried(opentofu, report('Unsupported attribute'));
  const broken = tried(terraform, { reason: 'plan_failed', message: 'it crashed' });
  const elsewhere = tried(terraform, { reason: 'executor_lost' });

  it('fails only if both refuse', () => {
    const both = [refuses, tried(terraform, report('Unsupported argument'))];
    expect(joinTried(both, kinds)).toMatchObject({ state: 'failed', errors: [{ message: 'Unsupported attribute' }] });
  });

  it.each([
    ['first', [broken, refuses]],
    ['last', [refuses, broken]],
  ])('is not_done if one refuses and the other, checked %s, fails', (_, results) => {
    expect(joinTried(results, kinds)).toMatchObject({
      state: 'not_done',
      errors: [],
      warnings: [{ message: 'opentofu 1.12.6 refuses it: Unsupported attribute' }],
      notChecked: ['the check could not be made: it crashed'],
    });
  });

  it('a check is passed if one tool accepts, with the errors of the other as a warning', () => {
    const expected = { state: 'passed', warnings: [{ message: expect.stringContaining('refuses it') }] };
    expect(joinTried([refuses, accepts], kinds)).toMatchObject(expected);
    expect(joinTried([broken, tried(opentofu, report())], kinds)).toMatchObject({
      state: 'passed',
      notChecked: ['whether terraform accepts it: the check could not be made: it crashed'],
    });
  });

  it('a check is tried again if one tool refuses and the worker failed with the other', () => {
    expect(joinTried([refuses, elsewhere], kinds)).toEqual(elsewhere);
    expect(joinTried([elsewhere, accepts], kinds)).toMatchObject({ state: 'passed' });
    expect(joinTried([], kinds)).toBeNull();
  });

  const resolved = (tool: Tool, count: number, locks = {}) => {
    const digest = `sha256:${'a'.repeat(64)}`;
    const list = Array.from({ length: count }, () => ({ key: 'network', source: 'x', version: null, digest }));
    return tried(tool, { ...report(), modules: { digest: count === 0 ? '' : digest, list, content: null, locks } });
  };

  it('says that the other tool resolves its modules later, but not that it makes its lock file later', () => {
    const withModules = joinTried([resolved(terraform, 1)], kinds);
    expect(withModules).toMatchObject({
      notChecked: [expect.stringContaining('which modules from elsewhere opentofu')],
    });
    const withLock = resolved(terraform, 0, { linux_amd64: '# a lock file' });
    expect(joinTried([withLock], kinds)).toMatchObject({ state: 'passed', notChecked: [] });
    expect(withLock && 'state' in withLock && hasModules(withLock)).toBe(false);
  });
});
