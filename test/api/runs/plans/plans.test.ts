import { afterAll, beforeAll, expect, it } from 'vitest';
import { AttemptWriteRefused } from '#domain/runs/errors.ts';
import { maxPaths, type ResourceChange, summarizePlan } from '#domain/runs/plans/model.ts';
import { countSections, noSections } from '#domain/runs/plans/sections.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { aPlan, RunSteps } from '#test/support/runs/run-steps.ts';

/** The details of each change in a run's plan. */
let api: TestApi;
let admin: ApiUser;
let steps: RunSteps;
let worker: string;
beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
  steps = new RunSteps(api, admin);
  worker = await steps.worker('none');
});
afterAll(() => api?.close());

const plain = { address: 'thing.a', action: 'create' as const, before: null, after: { name: 'x' } };
const unsaid = {
  type: null,
  previous_address: null,
  imported: null,
  action_reason: null,
  replace_paths: null,
  after_unknown: null,
  sensitive: null,
};

async function planned(changes: ResourceChange[], policy: object = {}) {
  const { runId, attemptId } = await steps.planning(worker, 'none', {}, policy);
  await steps.complete(attemptId, { outcome: 'planned', plan: aPlan({ changes, summary: summarizePlan(changes) }) });
  return { runId, attemptId };
}

it("a plan contains the tool's details on moved, imported, replaced and forgotten resources", async () => {
  const replaced: ResourceChange = {
    ...plain,
    action: 'replace',
    type: 'thing',
    previousAddress: 'thing.old',
    actionReason: 'replace_because_cannot_update',
    replacePaths: [['size']],
    unknownPaths: [['tags', 'id']],
    sensitivePaths: [{ path: ['list', 0], changed: true }],
  };
  const imported: ResourceChange = { ...plain, action: 'no-op', imported: { id: null } };
  const { runId } = await planned([replaced, imported, { ...plain, action: 'forget' }]);
  const { body } = await admin.get(`/runs/${runId}/plan`);
  const summary = { ...summarizePlan([]), add: 1, destroy: 1, replace: 1, forget: 1, import: 1, move: 1 };
  expect(body.summary).toEqual(summary);
  expect((await admin.get(`/runs/${runId}`)).body.plan.summary).toEqual(summary);
  expect(body.changes).toEqual([
    {
      ...plain,
      action: 'replace',
      type: 'thing',
      previous_address: 'thing.old',
      imported: null,
      action_reason: 'replace_because_cannot_update',
      replace_paths: [['size']],
      after_unknown: [['tags', 'id']],
      sensitive: [{ path: ['list', 0], changed: true }],
    },
    { ...plain, ...unsaid, action: 'no-op', imported: { id: null } },
    { ...plain, ...unsaid, action: 'forget' },
  ]);
});

it('a plan contains members with the name __proto__, in changes and outputs, at any depth', async () => {
  const value = (text: string) => JSON.parse(`{"deep":[{"__proto__":"${text}"}],"__proto__":{"x":"${text}"}}`);
  const change: ResourceChange = { ...plain, action: 'update', before: value('one'), after: value('two') };
  const output = { name: 'o', action: 'update', before: value('one'), after: value('two'), sensitive: false } as const;
  const { runId, attemptId } = await steps.planning(worker, 'none');
  const sections = { ...noSections, outputs: [output] };
  await steps.complete(attemptId, { outcome: 'planned', plan: aPlan({ changes: [change], sections }) });
  const { text } = await admin.get(`/runs/${runId}/plan`);
  const { changes, outputs } = JSON.parse(text);
  for (const { before, after } of [changes[0], outputs[0]])
    expect([before, after].map((side) => JSON.stringify(side))).toEqual(
      [value('one'), value('two')].map((side) => JSON.stringify(side)),
    );
});

it('a plan that an earlier release stored with fewer members can be read', async () => {
  const { runId } = await planned([plain]);
  await api.rows(`update runs set plan_summary = '{"add": 1, "change": 0, "destroy": 0}' where id = ?`, [runId]);
  expect((await admin.get(`/runs/${runId}/plan`)).body.changes).toEqual([{ ...plain, ...unsaid }]);
  await api.rows(`update run_plans set sections = null where run_id = ?`, [runId]);
  expect((await admin.get(`/runs/${runId}/plan`)).body).toMatchObject({ outputs: [], checks: [], diagnostics: [] });
  const { plan } = (await admin.get(`/runs/${runId}`)).body;
  expect(plan.summary).toEqual({ ...summarizePlan([]), add: 1 });
});

it('a plan that only changes outputs waits if changes need approval, and shows outputs, checks and warnings', async () => {
  const output = { name: 'url', action: 'update' as const, before: 'a', after: 'b', sensitive: false };
  const check = { address: 'check.health', kind: 'check' as const, status: 'fail' as const, problems: ['It is ill.'] };
  const warning = { severity: 'warning' as const, message: 'Deprecated', file: 'main.tf', line: 3 };
  const sections = { ...noSections, outputs: [output], checks: [check], diagnostics: [warning] };
  const { runId, attemptId } = await steps.planning(worker, 'none', {}, { approval: { required: 1, when: 'changes' } });
  const plan = aPlan({ changes: [], sections, summary: summarizePlan([], countSections(sections)) });
  await steps.complete(attemptId, { outcome: 'planned', plan });
  expect(await steps.next({ runId, executed: attemptId })).toMatchObject({ kind: 'wait' });
  const { body } = await admin.get(`/runs/${runId}/plan`);
  expect(body).toMatchObject({ outputs: [output], checks: [check], diagnostics: [warning], actions: [], deferred: [] });
  expect(body.summary).toMatchObject({ outputs: 1, checks: 1, warnings: 1 });
  const page = await admin.get(`/runs/${runId}/plan/changes`);
  expect(page.body.sections).toMatchObject({ outputs: [output], checks: [check] });
});

it('a plan that only forgets resources waits if changes need approval, and not if only destroys do', async () => {
  const forgotten: ResourceChange[] = [{ ...plain, action: 'forget' }];
  for (const [when, step] of [
    ['changes', 'wait'],
    ['destroys', 'execute'],
  ] as const) {
    const { runId, attemptId } = await planned(forgotten, { approval: { required: 1, when } });
    expect(await steps.next({ runId, executed: attemptId })).toMatchObject({ kind: step });
  }
});

it.each([
  ['too many paths', { unknownPaths: Array.from({ length: maxPaths + 1 }, () => ['a']) }],
  ['an endless former address', { previousAddress: 'x'.repeat(5000) }],
  ['an id that cannot be stored', { imported: { id: 'a\0b' } }],
])('a plan with %s is refused', async (_, details) => {
  const { attemptId } = await steps.planning(worker, 'none');
  const plan = aPlan({ changes: [{ ...plain, ...details }] });
  await expect(steps.complete(attemptId, { outcome: 'planned', plan })).rejects.toThrow(AttemptWriteRefused);
});
