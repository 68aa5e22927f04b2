import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { featureNames } from '#domain/features.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { startUndoStage, type UndoStage } from '#test/support/undo/undo-stage.ts';

let stage: UndoStage;
let visitor: Awaited<ReturnType<typeof signInVisitor>>;
let run: string;
let attempt: string;
let paths: readonly string[];
beforeAll(async () => {
  stage = await startUndoStage();
  visitor = await signInVisitor(stage.api, stage.tenant.owner);
  const place = stage.place();
  await stage.deploy({ ...place, variables: { a: 1 } });
  run = await stage.deploy({ ...place, variables: { a: 2 } });
  const { id, instance_id: instance } = await stage.checked(run);
  attempt = id;
  await stage.api.rows('update instances set drifted = true where id = ?', [instance]).catch(() => undefined);
  const { teamPath, project, environment } = stage.tenant;
  paths = [
    '/',
    `/workloads/runs/${run}`,
    `/workloads/instances/${instance}`,
    `/environments/${environment}`,
    `/projects/${project}`,
    teamPath,
    `/catalog/${stage.template}`,
    '/profile',
  ];
  const off = Object.fromEntries(featureNames.map((name) => [name, { enabled: false, reason: 'it costs too much' }]));
  const admin = await stage.api.addUser('admin');
  expect((await admin.patch('/admin/settings', { features: off })).status).toBe(200);
});
afterAll(() => stage?.api.close());

test('the pages of a feature that is turned off have a heading with its name, and the reason', async () => {
  for (const [path, heading] of [
    ['/drift', 'Drift detection is turned off'],
    ['/schedules', 'Schedules are turned off'],
    ['/assemblies', 'Assemblies are turned off'],
    [`/selective-undo/${attempt}`, 'Selective undo is turned off'],
    [`/workloads/runs/${run}/undo`, 'Selective undo is turned off'],
  ] as const) {
    const { status, text } = await visitor.get(path);
    expect([path, status]).toEqual([path, 403]);
    expect(text).toContain(`<h1 id="title">${heading}</h1>`);
    expect(text).toContain('it costs too much');
    expect(text).not.toContain('You may not do this');
  }
});

test('no check of an undo starts while the undo is turned off, and the list of checks answers 403', async () => {
  const { owner } = stage.tenant;
  const checked = await owner.post(`/runs/${run}/selective-undo/check`, undefined, { 'idempotency-key': randomUUID() });
  const listed = await owner.get(`/runs/${run}/selective-undo`);
  for (const { status, headers } of [checked, listed])
    expect([status, headers['x-error-code']]).toEqual([403, 'feature_disabled']);
});

test('other pages link to no page of a feature that is turned off', async () => {
  const leading: string[] = [];
  for (const path of paths) {
    const { status, text } = await visitor.get(path);
    expect([path, status]).toEqual([path, 200]);
    const links = [...text.matchAll(/href="(\/[^"#]*)"/g)].map(([, link = '']) => link.replaceAll('&amp;', '&'));
    for (const link of new Set(links.filter((each) => !/^\/assets|\.(css|js|svg|png|ico)/.test(each)))) {
      const answer = await visitor.get(link);
      if (answer.status === 403 && answer.text.includes('turned off')) leading.push(`${path} → ${link}`);
    }
  }
  expect(leading).toEqual([]);
});
