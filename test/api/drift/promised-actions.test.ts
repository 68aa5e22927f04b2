import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#domain/shared/ids.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { addFinding } from '#test/support/drift/drift-rows.ts';
import { type DriftStage, makeDriftStage } from '#test/support/drift/drift-stage.ts';

let api: TestApi;
let stage: DriftStage;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

type Watched = Awaited<ReturnType<DriftStage['watched']>>;

const archiveTemplate = () => api.rows('update templates set archived_at = now() where id = ?', [stage.template]);

/** The reason why an action is not allowed, as the resource shows it. */
async function reasonOf(path: string, name: string): Promise<string | null> {
  const { body } = await stage.tenant.owner.get(path);
  return body.actions.find((action: { name: string }) => action.name === name).reason;
}

async function removeDetect(): Promise<void> {
  // The service keeps published versions in memory, so this is another version.
  const executor = { kind: 'command', apply: [{ name: 'go', run: ['true'] }] };
  const path = `/registry/templates/${stage.template}/versions`;
  const version = await stage.tenant.owner.make(path, { version: '2.0.0', spec: { executor } });
  await api.rows('update runs set template_version_id = ? where template_id = ?', [version.id, stage.template]);
}

describe('the action scan of a monitor', () => {
  it.each<[string, (watched: Watched) => Promise<unknown>, string]>([
    [
      'nothing is deployed',
      ({ instance }) => api.rows('update instances set resource_count = 0 where id = ?', [instance]),
      'nothing_deployed',
    ],
    [
      'a destroy changed the instance last',
      ({ run }) => api.rows(`update runs set operation = 'destroy' where id = ?`, [run]),
      'nothing_deployed',
    ],
    ['the template has no detect steps', removeDetect, 'operation_unsupported'],
    ['the template is archived', archiveTemplate, 'archived'],
  ])('is refused with the same reason as the operation if %s', async (_, change, code) => {
    stage = await makeDriftStage(api);
    const watched = await stage.watched();
    const path = `/drift-monitors/${watched.monitor}`;
    expect(await reasonOf(path, 'scan')).toBeNull();
    await change(watched);
    const reason = await reasonOf(path, 'scan');
    const answer = await stage.tenant.owner.post(`${path}/scan`);
    expect([answer.status, answer.headers['x-error-code'], answer.body.error]).toEqual([409, code, reason]);
  });
});

it('the action remediate of a finding is refused with the same reason as the operation while the template is archived', async () => {
  stage = await makeDriftStage(api);
  const { monitor, instance, run } = await stage.watched();
  const { finding, evidence } = await addFinding(stage.execute, { monitor, instance, run, team: stage.tenant.team });
  const path = `/drift-findings/${finding}`;
  expect(await reasonOf(path, 'remediate')).toBeNull();
  await archiveTemplate();
  const body = { evidence_id: evidence, expected_revision: 1, direction: 'revert' };
  const answer = await stage.tenant.owner.post(`${path}/remediation`, body, { 'idempotency-key': newId() });
  expect([answer.status, answer.body.error]).toEqual([409, await reasonOf(path, 'remediate')]);
});

it('a finding of a command template can only be reverted, and refuses to be adopted', async () => {
  stage = await makeDriftStage(api);
  const watched = await stage.watched();
  const place = { team: stage.tenant.team, environment: stage.tenant.environment };
  const { finding } = await addFinding(stage.execute, { ...place, ...watched });
  const path = `/drift-findings/${finding}`;
  expect((await stage.tenant.owner.get(path)).body.remediation_directions).toEqual(['revert', 'adopt']);
  await removeDetect();
  const { remediation_directions: directions, evidence, revision } = (await stage.tenant.owner.get(path)).body;
  expect(directions).toEqual(['revert']);
  const body = { evidence_id: evidence.id, expected_revision: revision, direction: 'adopt' };
  const refused = await stage.tenant.owner.post(`${path}/remediation`, body);
  expect([refused.status, refused.headers['x-error-code']]).toEqual([422, 'operation_unsupported']);
  expect(refused.body.error).toContain('revert the deviation');
});
