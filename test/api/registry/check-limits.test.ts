import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { maxUnderWay, maxWaiting } from '#domain/registry/checks/model.ts';
import { requestCheck } from '#domain/registry/checks/request.ts';
import { takeNextCheckStep } from '#domain/registry/checks/steps.ts';
import { TemplateSpec } from '#domain/registry/spec.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { RunSteps } from '#test/support/runs/run-steps.ts';

/** The limits of running and waiting checks of one person. There is no worker, so the checks keep waiting. */

let api: TestApi;
let steps: RunSteps;
beforeAll(async () => {
  api = await startApi();
  steps = new RunSteps(api, await api.addUser('admin'));
});
afterAll(() => api?.close());

const Rows = z.array(
  z.object({ id: z.string(), version_id: z.string().nullable(), template_id: z.string(), requested_by: z.string() }),
);
const checks = async () => Rows.parse(await api.rows('select * from template_checks order by id'));
const step = (id: string) => api.services.transactions.run((tx) => takeNextCheckStep(tx, id));

describe('the checks of one person', () => {
  test('the checks of one person beyond the limit are retried at growing intervals once their version is published', async () => {
    for (let count = 0; count <= maxUnderWay.caller; count++) await steps.publish();
    await steps.worker('sandbox');
    await api.rows('update workers set takes_checks = true');
    const ids = (await checks()).map(({ id }) => id);
    const last = ids.pop() ?? '';
    for (const id of ids) expect(await step(id)).toMatchObject({ kind: 'execute' });
    await api.rows("update template_checks set created_at = now() - interval '1 hour' where id = ?", [last]);
    expect(await step(last)).toEqual({ kind: 'wait', seconds: 360 });
  });

  test('checks that one person requests at once wait up to the limit, and the others answer without a check', async () => {
    const [known] = await checks();
    const person = known?.requested_by;
    const principal = { id: person, responsibleUserId: person, credential: { id: person } } as never;
    const target = { template: { id: known?.template_id }, teamId: null, organizationId: null } as never;
    const spec = TemplateSpec.parse({ executor: { kind: 'command', apply: [{ name: 'act', run: ['true'] }] } });
    const asked = Array.from({ length: 3 * maxWaiting }, () =>
      requestCheck(api.services, { principal, target, spec, files: {}, environmentId: null }, 3_000),
    );
    await Promise.race(asked);
    expect((await checks()).filter(({ version_id }) => version_id === null)).toHaveLength(maxWaiting);
    const said = (await Promise.all(asked)).flatMap(({ result }) => result.notChecked);
    expect(said.filter((why) => why.includes('under way already'))).toHaveLength(2 * maxWaiting);
  });
});
