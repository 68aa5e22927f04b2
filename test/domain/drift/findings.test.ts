import { describe, expect, it } from 'vitest';
import type { FindingState } from '#domain/drift/findings/model.ts';
import { expire, miss, reopen, see, suppress } from '#domain/drift/findings/transitions.ts';
import { compileIgnoreRules } from '#domain/drift/monitors/ignore-rules.ts';
import { within } from '#test/support/slowness.ts';

const day = (number: number) => new Date(Date.UTC(2026, 0, number));
const first = see(null, { observed: 'red', at: day(1) });
const accepted = suppress(first, { reason: 'a test', until: day(10) });

describe('a deviation', () => {
  it('is one open finding, however many scans see it', () => {
    const again = see(first, { observed: 'blue', at: day(2) });
    expect(again).toMatchObject({
      status: 'open',
      count: 2,
      firstSeenAt: day(1),
      lastSeenAt: day(2),
      observed: 'blue',
    });
  });

  it('resolves its finding once it is gone, and opens it again once it is back', () => {
    const gone = miss(first);
    expect(gone).toMatchObject({ status: 'resolved', reason: 'gone', count: 1 });
    expect(miss(gone)).toBe(gone);
    const back = see(gone, { observed: 'red', at: day(3) });
    expect(back).toMatchObject({ status: 'open', reason: 'observed', count: 2, firstSeenAt: day(1) });
  });
});

describe('a suppressed finding', () => {
  it('stays suppressed while the accepted value is observed', () => {
    expect(see(accepted, { observed: 'red', at: day(9) })).toMatchObject({ status: 'suppressed', count: 2 });
  });

  it('opens again for another value, and then also for the accepted one', () => {
    const other = see(accepted, { observed: 'blue', at: day(2) });
    expect(other).toMatchObject({ status: 'open', reason: 'other_value', suppression: null });
    expect(see(other, { observed: 'red', at: day(3) }).status).toBe('open');
  });

  it('opens again once the suppression expires, with or without another scan', () => {
    expect(see(accepted, { observed: 'red', at: day(10) })).toMatchObject({ reason: 'suppression_ended' });
    expect(expire(accepted, day(10))).toMatchObject({ status: 'open', reason: 'suppression_ended' });
    expect(expire(accepted, day(9))).toBe(accepted);
  });

  it('is suppressed again when the accepted value disappears and returns', () => {
    const gone = miss(accepted);
    expect(gone.status).toBe('resolved');
    expect(see(gone, { observed: 'red', at: day(5) }).status).toBe('suppressed');
    expect(expire(gone, day(10))).toMatchObject({ status: 'resolved', suppression: null });
  });

  it('opens again when somebody asks for it', () => {
    expect(reopen(accepted)).toMatchObject({ status: 'open', reason: 'reopened', suppression: null });
  });

  it('is open whenever no unexpired suppression accepts the observed value', () => {
    const states: FindingState[] = [first, accepted, miss(accepted), miss(first), reopen(accepted)];
    for (const state of states) {
      for (const observed of ['red', 'blue']) {
        for (const at of [day(5), day(15)]) {
          const isAccepted = state.suppression !== null && observed === 'red' && at < day(10);
          expect(see(state, { observed, at }).status).toBe(isAccepted ? 'suppressed' : 'open');
        }
      }
    }
  });
});

describe('ignore rules', () => {
  const ignores = compileIgnoreRules([
    { address: 'aws_instance.*', path: 'tags.*' },
    { address: '*', path: 'last_modified' },
    { address: 'module.*.local_file.a', path: '*' },
  ]);

  it.each([
    ['aws_instance.web[0]', 'tags.owner', true],
    ['aws_instance.web[0]', 'tags', false],
    ['aws_instances.web', 'tags.owner', false],
    ['anything', 'last_modified', true],
    ['anything', 'last_modified_by', false],
    ['module.x.module.y.local_file.a', 'content', true],
    ['module.local_file.a', 'content', false],
  ])('the ignore rules match a deviation of %s and %s: %s', (address, path, expected) => {
    expect(ignores(address, path)).toBe(expected);
  });

  it('ignore rules with many asterisks are matched in linear time', async () => {
    const costly = compileIgnoreRules([{ address: '*a'.repeat(2_000), path: '*' }]);
    expect(await within(500, () => costly('a'.repeat(1_999), 'x'))).toBe(false);
  });
});
