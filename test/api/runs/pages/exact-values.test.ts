import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseExactJson } from '#domain/shared/values/exact-json.ts';
import { representValue } from '#domain/shared/values/representable.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { textOf } from '#test/support/browser/page-text.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';
import { change, PendingRuns } from '#test/support/runs/pending-runs.ts';
import { RunSteps } from '#test/support/runs/run-steps.ts';

const large = '9007199254740993';

let api: TestApi;
let root: ApiUser;
let visitor: Visitor;
let reviewer: Visitor;
let runs: PendingRuns;
beforeAll(async () => {
  api = await startApi();
  root = await api.addUser('admin', 'Root');
  runs = await PendingRuns.start(api);
  visitor = await visitAs(root);
  reviewer = await visitAs(runs.reviewers[0]!);
});
afterAll(() => api?.close());

async function visitAs(user: ApiUser): Promise<Visitor> {
  const visiting = await signInVisitor(api, user);
  return visiting;
}

describe('the pages of a run', () => {
  it('show a change of the last digit of a large number, and which values of a plan are not stored', async () => {
    const before = representValue(parseExactJson(`{"n":${large},"text":"a\\u0000","same":"b\\u0000"}`)).value;
    const after = representValue(parseExactJson('{"n":9007199254740992,"text":"c\\u0000","same":"b\\u0000"}')).value;
    const run = await runs.add([change('update', 'thing.x', before, after)]);
    const { status, text } = await reviewer.get(`/workloads/runs/${run}?tab=plan`);
    expect(status, text).toBe(200);
    const words = textOf(text);
    expect(words).toContain(`n ${large} becomes 9007199254740992`);
    expect(words).toContain(
      'text (not stored: it holds a NUL character) becomes (not stored: it holds a NUL character)',
    );
    expect(words).toContain('1 unchanged');
    const answer = await runs.reviewers[0]!.get(`/runs/${run}/plan`);
    expect(answer.text).toContain(`"before":{"n":${large},`);
  });

  it('show outputs with all their digits, and which of their values are not stored', async () => {
    const steps = new RunSteps(api, root);
    const { runId, attemptId } = await steps.applying(await steps.worker('sandbox'), 'sandbox');
    const outputs = {
      n: { value: parseExactJson(large), sensitive: false },
      odd: { value: ['a\0'], sensitive: false },
    };
    await steps.complete(attemptId, { outcome: 'applied', outputs });
    await steps.next({ runId, executed: attemptId });
    const { text } = await visitor.get(`/workloads/runs/${runId}?tab=details`);
    expect(textOf(text)).toContain(`n${large}`);
    expect(textOf(text)).toContain('Not stored: /0 holds a NUL character. The state has it.');
    const { body } = await root.get(`/runs/${runId}`);
    const page = await visitor.get(`/workloads/instances/${body.instance_id}?tab=outputs`);
    expect(textOf(page.text)).toContain(large);
    expect(textOf(page.text)).toContain('Not stored: /0 holds a NUL character. The state has it.');
    const events = await visitor.get(`/workloads/runs/${runId}?tab=events`);
    expect(textOf(events.text)).toContain('The outputs hold 1 value that cannot be stored.');
  });
});
