import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventRules } from '#domain/notifications/creation/event-rules.ts';
import type { Diagnostic } from '#domain/runs/diagnostics/model.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';
import { RunSteps } from '#test/support/runs/run-steps.ts';

let api: TestApi;
let root: ApiUser;
let steps: RunSteps;
let visitor: Visitor;
let worker: string;
beforeAll(async () => {
  api = await startApi();
  root = await api.addUser('admin', 'Root');
  steps = new RunSteps(api, root);
  worker = await steps.worker('sandbox');
  visitor = await signInVisitor(api, root);
});
afterAll(() => api?.close());

const unclosed: Diagnostic = {
  severity: 'error',
  message: 'Unclosed <quote>',
  detail: 'There is no closing quote.\n\nA second paragraph.',
  file: 'live/main.tf',
  line: 7,
  snippet: 'url = "https://${var.site"',
};

async function fail(diagnostics: readonly Diagnostic[], message = 'terraform init ended with exit code 1') {
  const { runId, attemptId } = await steps.planning(worker, 'sandbox');
  await steps.complete(attemptId, { outcome: 'failed', reason: 'init_failed', diagnostics, message });
  await steps.next({ runId, executed: attemptId });
  return runId;
}

describe('the page of a run that failed', () => {
  it('shows the first error with its file and source lines above the general advice', async () => {
    const run = await fail([{ severity: 'warning', message: 'Deprecated' }, unclosed]);
    const { text } = await visitor.get(`/workloads/runs/${run}`);
    const at = text.indexOf('Unclosed &lt;quote&gt;: There is no closing quote.');
    expect(at).toBeGreaterThan(0);
    expect(text.indexOf('live/main.tf:7')).toBeLessThan(at);
    expect(text.slice(at)).toContain(
      '<pre class="status-detail-snippet" tabindex="0" role="group" aria-label="Lines of the file">url = &quot;https://${var.site&quot;</pre>',
    );
    expect(text.slice(0, at)).not.toContain('could not initialize');
    expect(text.slice(at)).toContain('could not initialize');
    expect(text).not.toContain('A second paragraph');
    const { body } = await root.get(`/runs/${run}`);
    const instance = (await visitor.get(`/workloads/instances/${body.instance_id}`)).text;
    expect(instance).toContain('Its latest run did not succeed');
    expect(instance).toContain('live/main.tf:7');
  });

  it("shows the service's own message if the tool printed none", async () => {
    const run = await fail([], 'the tool wrote no plan file');
    const { body } = await root.get(`/runs/${run}`);
    expect(body.status_detail).toEqual({ message: 'the tool wrote no plan file', source: 'service' });
    expect((await visitor.get(`/workloads/runs/${run}`)).text).toContain('the tool wrote no plan file');
  });

  it('shows no lines of the template once the run is deleted', async () => {
    const run = await fail([unclosed]);
    expect((await root.delete(`/runs/${run}`)).status).toBe(204);
    const { body } = await root.get(`/runs/${run}`);
    expect(body.status_detail).toMatchObject({ file: 'live/main.tf', line: 7 });
    expect(body.status_detail).not.toHaveProperty('snippet');
  });
});

describe('the result of an attempt', () => {
  it('is refused if one of its diagnostics cannot be stored', async () => {
    const broken: Diagnostic[] = [
      { severity: 'error', message: 'a\0b' },
      { severity: 'error', message: '' },
      { severity: 'error', message: 'x'.repeat(501) },
      { severity: 'error', message: 'x', line: 0 },
    ];
    for (const diagnostic of broken) await expect(fail([diagnostic])).rejects.toThrow('the list of its diagnostics');
    const many = Array.from({ length: 51 }, (_, n) => ({ severity: 'warning' as const, message: String(n) }));
    await expect(fail(many)).rejects.toThrow('more than 50');
  });
});

describe('a notification that a run failed', () => {
  it('names the error, its file and its line, and not its source', async () => {
    const run = await fail([unclosed]);
    const em = api.services.orm.em.fork();
    const rule = eventRules.get('run.finished');
    const subject = { kind: 'run', id: run };
    const told = await rule?.(em, { subject, data: { status: 'failed' } } as unknown as Parameters<typeof rule>[1]);
    expect(told?.title).toMatch(/ failed: live\/main\.tf line 7: Unclosed <quote>: There is no closing quote\.$/);
    expect(told?.facts?.[0]).toBe('What failed: live/main.tf line 7: Unclosed <quote>: There is no closing quote.');
    expect(JSON.stringify(told)).not.toContain('var.site');
  });
});
