import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readReferredOutputs } from '#domain/assemblies/runs/nodes/outputs.ts';
import { noSections } from '#domain/runs/plans/sections.ts';
import { openReadingStage, plain, type ReadingStage, secret } from '#test/support/references/reading-stage.ts';
import { aPlan, executing } from '#test/support/runs/run-steps.ts';

/** Outputs become secret after other instances have read them. */

let stage: ReadingStage;
let made = 0;
beforeAll(async () => {
  stage = await openReadingStage();
});
afterAll(() => stage?.api.close());

/** An instance with a plain output, and a run that used it. */
async function pair() {
  const name = `open-${++made}`;
  const source = await stage.deploy({ instance: name }, { size: plain('open-at-first') });
  await stage.allow(source, { environment_ids: [stage.tenant.environment] });
  const { body, status, text } = await stage.ask({ size: `\${instances.shared/${name}.outputs.size}` });
  expect(status, text).toBe(202);
  expect(body.variables).toEqual({ size: 'open-at-first' });
  await stage.finish(body.id);
  return { name, source, reader: body.id as string };
}

describe('an output that became secret', () => {
  test('is masked in copies and destroys of deployments that used it, and their workers redact it', async () => {
    const { name, reader } = await pair();
    await stage.deploy({ instance: name }, { size: secret('open-at-first') });
    const { owner } = stage.tenant;
    const copied = await owner.post(`/runs/${reader}/copy`, {});
    expect(copied.status, copied.text).toBe(202);
    expect(copied.body).toMatchObject({ variables: { size: { sensitive: true } }, reads: [{ sensitive: true }] });
    expect(copied.text).not.toContain('open-at-first');
    const work = await stage.claimPlan(copied.body.id);
    expect(work.inputs.sensitive).toContain('size');
  });

  test('is redacted by the worker of a run that was admitted before', async () => {
    const { name } = await pair();
    const { body } = await stage.ask({ size: `\${instances.shared/${name}.outputs.size}` });
    await stage.deploy({ instance: name }, { size: secret('open-at-first') });
    expect((await stage.claimPlan(body.id)).inputs.sensitive).toContain('size');
  });

  test('is masked in the outputs of its instance, and along edges of assemblies, while a newer version declares it', async () => {
    const { source } = await pair();
    const { api, tenant, template } = stage;
    const shown = async () => (await tenant.owner.get(`/instances/${source}/outputs`)).body.outputs.size;
    const edge = async () => {
      const { orm, keyRing } = api.services;
      const deployed = new Map([['net', { id: source, bytes: 0 }]]);
      const references = [{ kind: 'output', node: 'net', name: 'size', path: [] }] as const;
      const { outputs } = await readReferredOutputs(orm.em.fork(), keyRing, deployed, references);
      return outputs.get('net')?.['size']?.sensitive;
    };
    expect([await shown(), await edge()]).toEqual([plain('open-at-first'), false]);
    const spec = {
      outputs: { size: { sensitive: true } },
      executor: { kind: 'command', apply: [{ name: 'go', run: ['true'] }] },
    };
    const admin = await api.addUser('admin');
    const path = `/registry/templates/${template}/versions`;
    expect((await admin.post(path, { version: '1.0.2', spec })).status).toBe(201);
    expect([await shown(), await edge()]).toEqual([{ value: null, sensitive: true }, true]);
    expect((await admin.post(`${path}/1.0.2/yank`, {})).status).toBe(200);
    expect([await shown(), await edge()]).toEqual([plain('open-at-first'), false]);
  });

  test('is masked in its own run, in lists and in the plan, while a newer version declares it', async () => {
    const { api, tenant, steps, worker } = stage;
    const template = await steps.publish();
    const place = { template_id: template, environment_id: tenant.environment, instance: 'recorded' };
    const { body: run } = await tenant.owner.post('/runs', place);
    const planned = executing(await steps.next({ runId: run.id }));
    await steps.claim(planned, worker, 'none');
    const change = { name: 'size', action: 'update' as const, sensitive: false };
    const output = { ...change, before: null, after: 'open-at-first' };
    await steps.complete(planned, {
      outcome: 'planned',
      plan: aPlan({ sections: { ...noSections, outputs: [output] } }),
    });
    const applied = executing(await steps.next({ runId: run.id, executed: planned }));
    await steps.claim(applied, worker, 'none');
    await steps.complete(applied, { outcome: 'applied', outputs: { size: plain('open-at-first'), of: plain(1) } });
    await steps.next({ runId: run.id, executed: applied });
    const paths = [`/runs/${run.id}`, `/runs?instance_id=${run.instance_id}`, `/runs/${run.id}/plan`];
    const shown = async () => {
      const answers = await Promise.all(
        [...paths, `/runs/${run.id}/plan/changes`].map((path) => tenant.owner.get(path)),
      );
      const [one, listed, plan, changes] = answers.map(({ body }) => body);
      const outputs = [one.outputs, listed.runs[0].outputs, plan.outputs, changes.sections.outputs];
      return { outputs, isTold: answers.some(({ text }) => text.includes('open-at-first')) };
    };
    const open = { size: plain('open-at-first'), of: plain(1) };
    const isOpen = { outputs: [open, open, [output], [output]], isTold: true };
    expect(await shown()).toEqual(isOpen);
    const spec = {
      outputs: { size: { sensitive: true } },
      executor: { kind: 'command', apply: [{ name: 'go', run: ['true'] }] },
    };
    const admin = await api.addUser('admin');
    const path = `/registry/templates/${template}/versions`;
    expect((await admin.post(path, { version: '1.0.1', spec })).status).toBe(201);
    const masked = { size: { value: null, sensitive: true }, of: plain(1) };
    const maskedChange = { ...output, after: { sensitive: true }, sensitive: true };
    expect(await shown()).toEqual({ outputs: [masked, masked, [maskedChange], [maskedChange]], isTold: false });
    expect((await admin.post(`${path}/1.0.1/yank`, {})).status).toBe(200);
    expect(await shown()).toEqual(isOpen);
  });

  test("is masked in the variables of other instances' runs that read it, while a newer version declares it", async () => {
    const { reader } = await pair();
    const { owner } = stage.tenant;
    const { body: run } = await owner.get(`/runs/${reader}`);
    const shown = async () => {
      const paths = [`/runs/${reader}`, `/runs?instance_id=${run.instance_id}`];
      const [one, listed] = await Promise.all(paths.map((path) => owner.get(path)));
      return [one?.body.variables, one?.body.prefill, listed?.body.runs[0].variables];
    };
    const open = { size: 'open-at-first' };
    const isOpen = [open, { variables: open, secrets: [] }, open];
    expect(await shown()).toEqual(isOpen);
    const spec = {
      outputs: { size: { sensitive: true } },
      executor: { kind: 'command', apply: [{ name: 'go', run: ['true'] }] },
    };
    const admin = await stage.api.addUser('admin');
    const path = `/registry/templates/${stage.template}/versions`;
    expect((await admin.post(path, { version: '8.0.0', spec })).status).toBe(201);
    const masked = { size: { sensitive: true } };
    expect(await shown()).toEqual([masked, { variables: {}, secrets: ['size'] }, masked]);
    expect((await admin.post(`${path}/8.0.0/yank`, {})).status).toBe(200);
    expect(await shown()).toEqual(isOpen);
  });

  test('is secret in new reads if a newer state or a newer template version declares it', async () => {
    const { name, source } = await pair();
    const reference = { size: `\${instances.shared/${name}.outputs.size}` };
    const masked = { variables: { size: { sensitive: true } }, reads: [{ sensitive: true }] };
    const running = await stage.ask({}, { environment_id: stage.shared, instance: name });
    await stage.claimApply(running.body.id);
    const [{ attempt } = { attempt: '' }] = await stage.api.rows<{ attempt: string }>(
      'select attempt_id as attempt from runs where id = ?',
      [running.body.id],
    );
    const state = {
      version: 4,
      serial: 1,
      lineage: 'a',
      resources: [],
      outputs: { size: { value: 'open-at-first', type: 'string', sensitive: true } },
    };
    await stage.steps.keep({ attemptId: attempt, content: Buffer.from(JSON.stringify(state)) });
    const { outputs } = (await stage.tenant.owner.get(`/instances/${source}/outputs`)).body;
    expect(outputs.size).toEqual({ value: null, sensitive: true });
    expect((await stage.ask(reference)).body).toMatchObject(masked);

    const other = await pair();
    const spec = {
      outputs: { size: { sensitive: true } },
      executor: { kind: 'command', apply: [{ name: 'go', run: ['true'] }] },
    };
    const admin = await stage.api.addUser('admin');
    const path = `/registry/templates/${stage.template}/versions`;
    const published = await admin.post(path, { version: '9.0.0', spec });
    expect(published.status, published.text).toBe(201);
    const { body } = await stage.ask({ size: `\${instances.shared/${other.name}.outputs.size}` }, { version: '1.0.0' });
    expect(body).toMatchObject(masked);
  });

  test('is still secret by the deployed version after that version was yanked', async () => {
    const spec = {
      outputs: { size: { sensitive: true } },
      executor: { kind: 'command', apply: [{ name: 'go', run: ['true'] }] },
    };
    const admin = await stage.api.addUser('admin');
    const path = `/registry/templates/${stage.template}/versions`;
    const published = await admin.post(path, { version: '1.0.1', spec });
    expect(published.status, published.text).toBe(201);
    const place = { environment_id: stage.shared, instance: 'yanked' };
    const run = await stage.ask({}, { ...place, version: '1.0.1' });
    expect(run.status, run.text).toBe(202);
    await stage.finish(run.body.id, { size: plain('open-in-the-state') });
    await stage.allow(run.body.instance_id, { environment_ids: [stage.tenant.environment] });
    const yanked = await admin.post(`${path}/1.0.1/yank`, {});
    expect(yanked.status, yanked.text).toBe(200);
    const { body, text } = await stage.ask({ size: '${instances.shared/yanked.outputs.size}' }, { version: '1.0.0' });
    expect(body, text).toMatchObject({ variables: { size: { sensitive: true } }, reads: [{ sensitive: true }] });
  });
});
