import { afterAll, describe, expect, it } from 'vitest';
import { deviationsOf } from '#domain/runs/plans/deviations.ts';
import { scannedChanges } from '#domain/runs/plans/scanned-changes.ts';
import { learnEarlierSecrets } from '#domain/shared/redaction/earlier-secrets.ts';
import { RedactingStream, Redactor } from '#domain/shared/redaction/redactor.ts';
import { readPlan } from '#executors/opentofu/plan-json/plan.ts';
import { secretDigestOf } from '#executors/redaction/secret-digest.ts';
import { makeWorkRoot, runSteps, shell } from './support.ts';

const root = makeWorkRoot();
afterAll(root.remove);

/** A redactor that knows the secret of the present run, and those of earlier ones. */
function redactorOf(present: string, ...earlier: string[]): Redactor {
  const redactor = new Redactor();
  redactor.learn(present);
  learnEarlierSecrets(redactor, { values: earlier, areTooMany: false });
  return redactor;
}

describe('the secrets of earlier runs', () => {
  it('reach no program of an attempt, and are redacted from what it prints', async () => {
    const { result, sink } = await runSteps(
      root.path,
      { apply: [shell('echo "was before-$(printf secret)"; env; cat variables.json; ls -R . | cat')] },
      { earlierSecrets: { values: ['before-secret', 'never-printed'], areTooMany: false } },
    );
    expect(result.outcome, JSON.stringify(result)).toBe('succeeded');
    expect(sink.text()).toContain('was [redacted]\n');
    expect(sink.text()).not.toMatch(/before-secret|never-printed/);
  });

  it('are redacted completely if one begins with another, however the output is cut', () => {
    const redactor = redactorOf('beta', 'beta-secret-2');
    for (let cut = 0; cut < 24; cut += 1) {
      const stream = new RedactingStream(redactor);
      const text = Buffer.from('u["beta-secret-2"] beta.');
      const shown = [stream.push(text.subarray(0, cut)), stream.push(text.subarray(cut)), stream.end()];
      expect(Buffer.concat(shown).toString()).toBe('u["[redacted]"] [redacted].');
    }
  });

  it('are masked in a plan as a change, and have a digest of the real value in a scan', () => {
    const drifted = (real: string) => ({
      resource_drift: [
        {
          address: 't.a',
          type: 't',
          change: { actions: ['update'], before: { v: 'old-secret', n: 1 }, after: { v: real, n: 2 } },
        },
      ],
      output_changes: { url: { actions: ['update'], before: 'u:old-secret', after: 'u:x' } },
    });
    const read = (real: string) =>
      readPlan(Buffer.from(JSON.stringify(drifted(real))), {
        redactor: redactorOf('new-secret', 'old-secret', 'odd-secret'),
        digest: secretDigestOf('a2V5'),
      });
    const plan = read('new-secret');
    expect(plan.drift).toMatchObject([{ sensitivePaths: [{ path: ['v'], changed: true }] }]);
    expect(plan.sections.outputs).toMatchObject([{ before: { sensitive: true }, after: 'u:x', sensitive: true }]);
    const [one, other] = ['new-secret', 'odd-secret'].map((real) => {
      const { drift, changes } = read(real);
      return deviationsOf(scannedChanges(drift, changes));
    });
    expect(one?.map(({ path }) => path)).toEqual(['n', 'v']);
    expect(one?.[1]?.secretDigest).not.toBe(other?.[1]?.secretDigest);
  });

  it('make the redactor hide all output if there are more than it can look for', async () => {
    const redactor = new Redactor(1_000);
    learnEarlierSecrets(redactor, { values: ['x'.repeat(2_000)], areTooMany: false });
    expect([redactor.redactText('any'), redactor.redactText(''), redactor.contains({ a: 1 })]).toEqual([
      '[redacted]',
      '',
      true,
    ]);
    const stream = new RedactingStream(redactor);
    const shown = [stream.push(Buffer.from('one\ntw')), stream.push(Buffer.from('o\n\nth')), stream.end()];
    expect(Buffer.concat(shown).toString()).toBe('[redacted]\n[redacted]\n\n[redacted]');
    const { result, sink } = await runSteps(
      root.path,
      { apply: [shell('echo plain; echo more')] },
      { earlierSecrets: { values: [], areTooMany: true } },
    );
    expect(result.outcome, JSON.stringify(result)).toBe('succeeded');
    expect(sink.text()).not.toMatch(/plain|more$/m);
    expect(sink.text()).toContain('more secrets of earlier runs than are looked for');
  });
});
