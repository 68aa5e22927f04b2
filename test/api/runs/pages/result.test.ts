import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';
import { RunSteps } from '#test/support/runs/run-steps.ts';

let api: TestApi;
let root: ApiUser;
let visitor: Visitor;
let steps: RunSteps;
beforeAll(async () => {
  api = await startApi();
  root = await api.addUser('admin', 'Root');
  steps = new RunSteps(api, root);
  visitor = await signInVisitor(api, root);
});
afterAll(() => api?.close());

/** A run that ended with these outputs. Returns its page. */
async function finish(outcome: 'applied' | 'failed', outputs: object): Promise<string> {
  const { runId, attemptId } = await steps.applying(await steps.worker('sandbox'), 'sandbox');
  await steps.complete(
    attemptId,
    outcome === 'applied' ? { outcome, outputs: outputs as never } : { outcome, reason: 'apply_failed' },
  );
  await steps.next({ runId, executed: attemptId });
  return `/workloads/runs/${runId}`;
}

const text = (value: string, sensitive = false) => ({ value, sensitive });

describe('the page of a run', () => {
  it('begins with the outputs once the run has succeeded, and masks secret ones', async () => {
    const page = await finish('applied', { url: text('https://shop.example/<b>'), token: text('hunter2', true) });
    const { text: shown } = await visitor.get(page);
    expect(shown).toMatch(
      /<\/header>[\s\S]*id="result">Outputs[\s\S]*https:\/\/shop\.example\/&lt;b&gt;[\s\S]*Parts of the run/,
    );
    expect(shown).not.toContain('hunter2');
    const details = await visitor.page(`${page}?tab=details`);
    expect(details).not.toContain('id="result"');
    expect(details.indexOf('details-outputs')).toBeLessThan(details.indexOf('details-request'));
  });

  it('shows the first of many outputs, and links to all', async () => {
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`o${index}`, text(`value-${index}`)]));
    const page = await finish('applied', many);
    const { text: shown } = await visitor.get(page);
    expect(shown.match(/value-\d+/g)).toHaveLength(8);
    expect(shown).toContain(`<a href="${page}?tab=details">Show all 30 outputs</a>`);
  });

  it('shows no outputs if the run failed or has none', async () => {
    for (const page of [await finish('failed', {}), await finish('applied', {})])
      expect(await visitor.page(page)).not.toContain('id="result"');
  });
});
