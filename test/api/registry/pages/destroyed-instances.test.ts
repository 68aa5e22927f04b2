import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { startUndoStage, type UndoStage } from '#test/support/undo/undo-stage.ts';

let stage: UndoStage;
let visitor: Awaited<ReturnType<typeof signInVisitor>>;
beforeAll(async () => {
  stage = await startUndoStage();
  visitor = await signInVisitor(stage.api, stage.tenant.owner);
});
afterAll(() => stage?.api.close());

/** The address of "Deploy" on the page of an instance. */
async function deployAddress(run: string) {
  const { body } = await stage.tenant.owner.get(`/runs/${run}`);
  const { text } = await visitor.get(`/workloads/instances/${body.instance_id}`);
  return /href="([^"]*from_instance=[^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
}

/** The fields of the variables with the values of the form. */
function valuesIn(text: string): [string, string][] {
  const inputs = [...text.matchAll(/<input[^>]*>/g)].map(([input]) => [
    attribute(input, 'name'),
    attribute(input, 'value'),
  ]);
  const areas = [...text.matchAll(/(<textarea[^>]*>)([^<]*)</g)].map(([, area = '', value = '']) => [
    attribute(area, 'name'),
    value,
  ]);
  const selects = [...text.matchAll(/(<select[^>]*>)(.*?)<\/select>/gs)].map(([, select = '', options = '']) => [
    attribute(select, 'name'),
    /<option value="([^"]*)" selected/.exec(options)?.[1] ?? '',
  ]);
  return [...inputs, ...areas, ...selects].flatMap(([name = '', value = '']): [string, string][] =>
    /^[a-z]\//.test(name) ? [[name, value.replaceAll('&quot;', '"').replaceAll('&#34;', '"')]] : [],
  );
}

const attribute = (tag: string, name: string) => new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1];

async function destroyed() {
  const place = stage.place();
  const run = await stage.deploy({ ...place, version: '1.0.0', variables: { a: 'first', token: 's3cret' } });
  const destroy = await stage.deploy({ ...place, operation: 'destroy' });
  return { place, run, destroy };
}

describe('the form that deploys an instance after a destroy', () => {
  test('has the values of the last deployment, says so, and deploys them with their secrets', async () => {
    const { place, run, destroy } = await destroyed();
    const address = await deployAddress(run);
    const { text } = await visitor.get(address);
    expect(text).toContain(`Deploy ${place.instance}`);
    expect(text).toMatch(
      new RegExp(
        `was destroyed by <a href="/workloads/runs/${destroy}">[\\s\\S]*Filled in from its last deployment, <a href="/workloads/runs/${run}">`,
      ),
    );
    expect(text).toMatch(/first/);
    expect(text).not.toContain('s3cret');
    const fields = { shown: '1.0.0', version: '1.0.0', operation: 'apply', key: randomUUID() };
    const sent = await visitor.submit(
      address,
      new URLSearchParams([...Object.entries(fields), ...valuesIn(text)]).toString(),
    );
    expect(sent.status, sent.text).toBe(303);
    const id = /^\/workloads\/runs\/([0-9a-f-]+)/.exec(sent.location ?? '')?.[1];
    const { body } = await stage.tenant.owner.get(`/runs/${id}`);
    expect(body).toMatchObject({
      instance: place.instance,
      environment_id: place.environment_id,
      operation: 'apply',
      variables: { a: 'first', token: { sensitive: true } },
    });
  });

  test('says if the values of the last deployment no longer exist', async () => {
    const { run, destroy } = await destroyed();
    await stage.api.rows(`update runs set sealed_inputs = '', deleted_at = now() where id = ?`, [run]);
    const { status, text } = await visitor.get(await deployAddress(run));
    expect(status).toBe(200);
    expect(text).toMatch(new RegExp(`was destroyed by <a href="/workloads/runs/${destroy}">[\\s\\S]*no longer kept`));
  });

  test('has the values of the last success if the last run failed', async () => {
    const place = stage.place();
    const run = await stage.deploy({ ...place, variables: { a: 'good' } });
    const { body: failed } = await stage.tenant.owner.post('/runs', { ...place, variables: { a: 'bad' } });
    await stage.apply(failed.id, ['thing.a'], 'failed');
    const { text } = await visitor.get(await deployAddress(run));
    expect(text).toMatch(/Filled in from the last successful deployment/);
    expect(text).toMatch(/good/);
  });

  test('says that nothing was deployed if the only run deployed nothing', async () => {
    const place = stage.place();
    const { body } = await stage.tenant.owner.post('/runs', { ...place, variables: { a: 1 } });
    await stage.api.rows(
      `update runs set status = 'failed', phase = 'finished', waiting_on = null, finished_at = now() where id = ?`,
      [body.id],
    );
    const { text } = await visitor.get(await deployAddress(body.id));
    expect(text).toMatch(/No run has deployed [\s\S]* successfully yet/);
  });

  test('says that the instance was deleted, instead of answering 404', async () => {
    const { place, run } = await destroyed();
    const address = await deployAddress(run);
    await stage.api.rows('update instances set deleted_at = now() where name = ?', [place.instance]);
    const { status, text } = await visitor.get(address);
    expect(status).toBe(200);
    expect(text).toContain('The instance doesn');
    expect(text).toContain('not filled in with its values');
  });
});

test('variables_from of a destroyed instance answers 422 and names the destroy', async () => {
  const { place, destroy } = await destroyed();
  const { status, headers, body } = await stage.tenant.owner.post('/runs', { ...place, variables_from: 'deployed' });
  expect([status, headers['x-error-code']]).toEqual([422, 'nothing_deployed']);
  expect(body.error).toContain(`was destroyed by the run ${destroy}`);
});
