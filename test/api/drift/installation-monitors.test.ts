import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '#domain/shared/ids.ts';
import { makeTenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { addFinding, addMonitor } from '#test/support/drift/drift-rows.ts';

let api: TestApi;
let administrator: ApiUser;
let maintainer: ApiUser;
beforeAll(async () => {
  api = await startApi();
  administrator = await api.addUser('admin');
  maintainer = (await makeTenant(api)).owner;
});
afterAll(() => api?.close());

const schedule = { every: 'PT6H' };

/** A monitor of an instance without a team, and one of its findings. */
async function unscoped() {
  const template = await administrator.make('/registry/templates', { name: `T ${newId()}` });
  const step = [{ name: 'go', run: ['true'] }];
  const spec = { executor: { kind: 'command', apply: step } };
  await administrator.make(`/registry/templates/${template.id}/versions`, { version: '1.0.0', spec });
  const { body } = await administrator.post('/runs', { template_id: template.id, instance: 'alone' });
  const execute = (sql: string, values: unknown[]) => api.rows(sql, values);
  const place = { instance: body.instance_id as string, team: null };
  const monitor = await addMonitor(execute, { ...place, environment: null });
  return { monitor, ...(await addFinding(execute, { ...place, monitor, run: body.id })) };
}

it('a monitor of the whole installation and its findings answer 404 to users who are not administrators', async () => {
  const { monitor, finding, evidence } = await unscoped();
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const remediation = { evidence_id: evidence, expected_revision: 1, direction: 'revert' };
  const requests: ['GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE', string, string, unknown?][] = [
    ['GET', '/drift-monitors/{}', monitor],
    ['GET', '/drift-monitors/{}/scans', monitor],
    ['GET', '/drift-monitors/{}/ignore-rules', monitor],
    ['PUT', '/drift-monitors/{}/ignore-rules', monitor, { rules: [] }],
    ['PATCH', '/drift-monitors/{}', monitor, { enabled: false }],
    ['POST', '/drift-monitors/{}/scan', monitor],
    ['DELETE', '/drift-monitors/{}', monitor],
    ['GET', '/drift-findings/{}', finding],
    ['GET', '/drift-findings/{}/evidence', finding],
    ['POST', '/drift-findings/{}/reopen', finding, { reason: 'x' }],
    ['POST', '/drift-findings/{}/remediation', finding, remediation],
  ];
  for (const [method, path, id, body] of requests) {
    const [real, missing] = await Promise.all(
      [id, newId()].map((each) => maintainer.send(method, path.replace('{}', each), body)),
    );
    expect([real!.status, real!.text], `${method} ${path}`).toEqual([404, missing!.text]);
  }
  const many = await maintainer.post('/drift-findings/suppress', {
    findings: [{ id: finding, evidence_id: newId() }],
    reason: 'x',
    until,
  });
  expect(many.status).toBe(404);
  expect((await maintainer.get('/drift-monitors')).body.drift_monitors).toEqual([]);
  expect((await administrator.get(`/drift-monitors/${monitor}`)).status).toBe(200);
  expect((await administrator.get(`/drift-findings/${finding}`)).status).toBe(200);
});

it('watching a template of the whole installation answers 403 to users who are not administrators', async () => {
  const template = await administrator.make('/registry/templates', { name: `T ${newId()}` });
  const body = { template_id: template.id, schedule };
  expect((await maintainer.post('/drift-monitors', body)).status).toBe(403);
  expect((await administrator.post('/drift-monitors', body)).status).toBe(201);
});
