import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { makeDriftStage } from '#test/support/drift/drift-stage.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

it('a list of monitors by template has the monitor of the template and those of its instances', async () => {
  const [stage, other] = [await makeDriftStage(api), await makeDriftStage(api)];
  const { owner } = stage.tenant;
  const body = { template_id: stage.template, schedule: { every: 'PT6H' } };
  const { id } = await owner.make('/drift-monitors', body);
  const again = await owner.post('/drift-monitors', body);
  expect([again.status, again.headers['x-error-code']]).toEqual([409, 'drift_monitor_exists']);
  const { monitor } = await stage.watched();
  await other.watched();
  const list = async (template: string) => {
    const answer = await owner.get(`/drift-monitors?template_id=${template}`);
    return answer.body.drift_monitors.map((each: { id: string }) => each.id);
  };
  expect(await list(stage.template)).toEqual([monitor, id]);
  expect(await list(other.template)).toEqual([]);
});
