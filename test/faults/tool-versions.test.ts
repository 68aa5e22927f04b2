import { beforeEach, describe, expect, it } from 'vitest';
import { NoUsableTool } from '#domain/runs/errors.ts';
import { summarizePlan } from '#domain/runs/plans/model.ts';
import { recordHeartbeat } from '#domain/workers/store.ts';
import { makeTenant } from '#test/support/access/tenancy.ts';
import { aPlan, executing } from '#test/support/runs/run-steps.ts';
import { openRunStepsApi } from './harness/run-steps-api.ts';

const { api, admin, steps, readRun } = await openRunStepsApi();
let pools = 0;
/** Each test has its own pool. */
let pool: string;
beforeEach(async () => {
  pool = `versions-${++pools}`;
  await admin.make('/worker-pools', { name: pool });
});

const tofu = (version: string) => ({ name: 'opentofu', version });
const terraform = (version: string) => ({ name: 'terraform', version });
const files = { 'main.tf': 'output "a" { value = 1 }' };
const specOf = (more: object = {}) => ({ pool, executor: { kind: 'opentofu', files }, ...more });
const noWorker = (tools?: object[]) => ({ waiting_on: { code: 'no_worker', ...(tools && { tools }) } });

async function report(id: string, tools: { name: string; version: string }[]): Promise<void> {
  await recordHeartbeat(api.services.orm.em.fork(), { id, draining: false, tools });
  await api.rows(`update workers set heartbeat_at = now() + interval '1 hour' where id = ?`, [id]);
}

describe('a run', () => {
  it('uses the highest version that any worker of its pool has, whichever worker claims it first', async () => {
    const [low, high] = [[tofu('1.9.8')], [terraform('1.14.0'), tofu('1.8.1'), tofu('1.10.10')]];
    const [weak, strong] = [await steps.worker('none', pool, low), await steps.worker('none', pool, high)];
    const attemptId = executing(await steps.next({ runId: await steps.admit({}, specOf()) }));
    await expect(steps.claim(attemptId, weak, 'none', low)).rejects.toThrow(NoUsableTool);
    expect(await steps.claim(attemptId, strong, 'none', high)).toMatchObject({ tool: tofu('1.10.10') });
  });

  it('uses the highest version within the range of its template', async () => {
    const tools = ['1.9.8', '1.10.10', '1.12.6'].map(tofu);
    const worker = await steps.worker('none', pool, tools);
    const spec = specOf({ tool: { name: 'opentofu', version: '~> 1.10.0' } });
    const attemptId = executing(await steps.next({ runId: await steps.admit({}, spec) }));
    expect(await steps.claim(attemptId, worker, 'none', tools)).toMatchObject({ tool: tofu('1.10.10') });
  });

  it('uses Terraform, although OpenTofu is there, if required_version of its files fits only that', async () => {
    const tools = [tofu('1.12.6'), terraform('1.14.0')];
    const worker = await steps.worker('none', pool, tools);
    const executor = { kind: 'opentofu', files: { 'main.tf': 'terraform {\n  required_version = ">= 1.13"\n}' } };
    const attemptId = executing(await steps.next({ runId: await steps.admit({}, specOf({ executor })) }));
    expect(await steps.claim(attemptId, worker, 'none', tools)).toMatchObject({ tool: terraform('1.14.0') });
  });

  it('may use OpenTofu 1.12 or later, which ignores required_version in .tf files, but prefers a tool that this allows', async () => {
    const executor = { kind: 'opentofu', files: { 'main.tf': 'terraform {\n  required_version = "= 1.11.4"\n}' } };
    const alone = [tofu('1.12.6')];
    const weak = await steps.worker('none', pool, alone);
    const first = executing(await steps.next({ runId: await steps.admit({}, specOf({ executor })) }));
    expect(await steps.claim(first, weak, 'none', alone)).toMatchObject({ tool: tofu('1.12.6') });
    const both = [tofu('1.12.6'), terraform('1.11.4')];
    const strong = await steps.worker('none', pool, both);
    const second = executing(await steps.next({ runId: await steps.admit({}, specOf({ executor })) }));
    await expect(steps.claim(second, weak, 'none', alone)).rejects.toThrow(NoUsableTool);
    expect(await steps.claim(second, strong, 'none', both)).toMatchObject({ tool: terraform('1.11.4') });
  });

  it('waits with the name and range of its tool until a worker of the pool has it', async () => {
    const worker = await steps.worker('none', pool, [tofu('1.10.10')]);
    const runId = await steps.admit({}, specOf({ tool: { name: 'terraform', version: '~> 1.11' } }));
    expect(await steps.next({ runId })).toMatchObject({ kind: 'wait' });
    expect(await readRun(runId)).toMatchObject(noWorker([{ name: 'terraform', version: '~> 1.11' }]));
    const added = [tofu('1.10.10'), terraform('1.11.4')];
    await report(worker, added);
    const attemptId = executing(await steps.next({ runId }));
    expect((await readRun(runId)).waiting_on).not.toHaveProperty('tools');
    expect(await steps.claim(attemptId, worker, 'none', added)).toMatchObject({ tool: terraform('1.11.4') });
  });

  it('waits without naming a tool if any tool would do', async () => {
    const runId = await steps.admit({}, specOf());
    await steps.next({ runId });
    expect((await readRun(runId)).waiting_on).toMatchObject({ code: 'no_worker' });
    expect((await readRun(runId)).waiting_on).not.toHaveProperty('tools');
  });

  it('waits at its apply for the exact version that made its plan, even if a worker has a newer one', async () => {
    const worker = await steps.worker('none', pool, [tofu('1.10.9')]);
    const runId = await steps.admit({}, specOf());
    const planning = executing(await steps.next({ runId }));
    await steps.claim(planning, worker, 'none', [tofu('1.10.9')]);
    await steps.complete(planning, { outcome: 'planned', plan: aPlan(), tool: tofu('1.10.9') });
    await report(worker, [tofu('1.10.10')]);
    expect(await steps.next({ runId, executed: planning })).toMatchObject({ kind: 'wait' });
    expect(await readRun(runId)).toMatchObject({
      status: 'running',
      tool: tofu('1.10.9'),
      ...noWorker([{ name: 'opentofu', version: '1.10.9' }]),
    });
    await report(worker, [tofu('1.10.10'), tofu('1.10.9')]);
    const applying = executing(await steps.next({ runId, executed: planning }));
    await expect(steps.claim(applying, worker, 'none', [tofu('1.10.10')])).rejects.toThrow(NoUsableTool);
    expect(await steps.claim(applying, worker, 'none', [tofu('1.10.9')])).toMatchObject({ tool: tofu('1.10.9') });
  });
});

describe('an instance', () => {
  /** Deploys a template with a tool; returns what names the instance. */
  async function deploy(tool: { name: string; version: string }, spec: object) {
    const worker = await steps.worker('none', pool, [tool]);
    const runId = await steps.admit({}, spec);
    const planning = executing(await steps.next({ runId }));
    await steps.claim(planning, worker, 'none', [tool]);
    await steps.complete(planning, { outcome: 'planned', plan: aPlan(), tool });
    const applying = executing(await steps.next({ runId, executed: planning }));
    await steps.claim(applying, worker, 'none', [tool]);
    const resources = [
      { mode: 'managed', type: 'terraform_data', name: 'a', provider: 'p', instances: [{ attributes: {} }] },
    ];
    const content = Buffer.from(JSON.stringify({ version: 4, serial: 1, lineage: 'l', outputs: {}, resources }));
    await steps.keep({ attemptId: applying, content });
    await steps.complete(applying, { outcome: 'applied' });
    expect(await steps.next({ runId, executed: applying })).toEqual({ kind: 'end' });
    const run = await readRun(runId);
    return { worker, templateId: run.template_id as string, instanceId: run.instance_id as string };
  }

  const admitAgain = (templateId: string, more: object = {}) =>
    admin.post('/runs', { template_id: templateId, ...more });

  it('is never planned with an older tool than the one that wrote its state', async () => {
    const { worker, templateId, instanceId } = await deploy(tofu('1.10.10'), specOf());
    expect((await admin.get(`/instances/${instanceId}`)).body).toMatchObject({
      tool: 'opentofu',
      tool_version: '1.10.10',
    });
    await report(worker, [tofu('1.9.8'), terraform('1.14.0')]);
    const { body } = await admitAgain(templateId);
    expect(await steps.next({ runId: body.id })).toMatchObject({ kind: 'wait' });
    expect(await readRun(body.id)).toMatchObject(noWorker([{ name: 'opentofu', version: '>= 1.10.10' }]));
  });

  it('refuses a version for another tool than the one that wrote its state, but lets itself be destroyed', async () => {
    const { templateId } = await deploy(terraform('1.11.4'), specOf());
    const spec = specOf({ executor: { kind: 'opentofu', files: { 'main.tofu': '' } } });
    await admin.make(`/registry/templates/${templateId}/versions`, { version: '2.0.0', spec });
    const refused = await admitAgain(templateId);
    expect(refused.status, refused.text).toBe(409);
    expect(refused.text).toContain("the template's files need opentofu, the state of the instance needs terraform");
    const destroy = await admitAgain(templateId, { operation: 'destroy', version: '2.0.0' });
    expect(destroy.status, destroy.text).toBe(202);
    expect(await steps.next({ runId: destroy.body.id })).toMatchObject({ kind: 'execute' });
  });

  it('in an environment uses the tool of the environment, and a contradiction answers 409', async () => {
    const { environment: id } = await makeTenant(api);
    const wanted = { name: 'terraform', version: '>= 1.5' };
    const { body: environment } = await admin.patch(`/environments/${id}`, { tool: wanted });
    expect(environment).toMatchObject({ tool: wanted });
    const templateId = await steps.publish(specOf({ tool: { name: 'opentofu' } }));
    const refused = await admitAgain(templateId, { environment_id: id });
    expect(refused.status).toBe(409);
    expect(refused.text).toContain('the template version needs opentofu, the environment needs terraform');
    const cleared = await admin.patch(`/environments/${id}`, { tool: null });
    expect(cleared.body).toMatchObject({ tool: null });
    expect((await admitAgain(templateId, { environment_id: id })).status).toBe(202);
  });

  async function switchTo(name: string, approval = 0) {
    const { worker, templateId, instanceId } = await deploy(terraform('1.11.4'), specOf());
    if (approval > 0) {
      const rule = { required: approval, when: 'changes', allow_self: false };
      await api.rows(`update runs set approval_required = ?, approval_when = ? where instance_id = ?`, [
        rule.required,
        rule.when,
        instanceId,
      ]);
    }
    const both = [terraform('1.11.4'), tofu('1.12.6')];
    await report(worker, both);
    const { status, body, text } = await admin.post(`/instances/${instanceId}/tool-switch`, { tool: { name } });
    expect(status, text).toBe(202);
    const attemptId = executing(await steps.next({ runId: body.id }));
    expect(await steps.claim(attemptId, worker, 'none', both)).toMatchObject({ tool: tofu('1.12.6') });
    return { worker, templateId, instanceId, runId: body.id as string, attemptId, both };
  }

  const readInstance = async (id: string) => (await admin.get(`/instances/${id}`)).body;

  it('gets another tool by a run whose plan changes nothing, and its next runs use that tool', async () => {
    const { worker, templateId, instanceId, runId, attemptId, both } = await switchTo('opentofu');
    const plan = aPlan({ changes: [], summary: summarizePlan([]) });
    await steps.complete(attemptId, { outcome: 'unchanged', plan, tool: tofu('1.12.6') });
    expect(await steps.next({ runId, executed: attemptId })).toEqual({ kind: 'end' });
    expect(await readRun(runId)).toMatchObject({ status: 'succeeded', tool_switch: { name: 'opentofu' } });
    expect(await readInstance(instanceId)).toMatchObject({ tool: 'opentofu', tool_version: '1.12.6' });
    const { body } = await admitAgain(templateId);
    const next = executing(await steps.next({ runId: body.id }));
    expect(await steps.claim(next, worker, 'none', both)).toMatchObject({ tool: tofu('1.12.6') });
  });

  it('keeps its tool if the plan of the other one changes something', async () => {
    const { instanceId, runId, attemptId } = await switchTo('opentofu');
    await steps.complete(attemptId, { outcome: 'planned', plan: aPlan(), tool: tofu('1.12.6') });
    expect(await steps.next({ runId, executed: attemptId })).toEqual({ kind: 'end' });
    expect(await readRun(runId)).toMatchObject({ status: 'failed', status_reason: 'switch_not_empty' });
    for (const repetition of ['requeue', 'copy']) {
      expect(await admin.post(`/runs/${runId}/${repetition}`), 'repeats the switch as an apply').toMatchObject({
        status: 409,
      });
    }
    expect(await readInstance(instanceId)).toMatchObject({ tool: 'terraform', tool_version: '1.11.4' });
  });

  it('gets another tool only with the approvals that a change needs', async () => {
    const { instanceId, runId, attemptId } = await switchTo('opentofu', 1);
    const plan = aPlan({ changes: [], summary: summarizePlan([]) });
    await steps.complete(attemptId, { outcome: 'unchanged', plan, tool: tofu('1.12.6') });
    expect(await steps.next({ runId, executed: attemptId })).toMatchObject({ kind: 'wait' });
    expect(await readRun(runId)).toMatchObject({ status: 'pending_approval' });
    expect(await readInstance(instanceId)).toMatchObject({ tool: 'terraform' });
    const reviewer = await api.addUser('admin');
    const { digest } = (await readRun(runId)).plan;
    const approved = await reviewer.post(`/runs/${runId}/approval/review`, {
      decision: 'approve',
      plan_digest: digest,
    });
    expect(approved.status, approved.text).toBeLessThan(300);
    expect(await steps.next({ runId, executed: attemptId })).toEqual({ kind: 'end' });
    expect(await readRun(runId)).toMatchObject({ status: 'succeeded' });
    expect(await readInstance(instanceId)).toMatchObject({ tool: 'opentofu' });
  });

  it('is not switched to a tool that its template excludes, nor before anything is deployed', async () => {
    const { instanceId } = await deploy(terraform('1.11.4'), specOf({ tool: { name: 'terraform' } }));
    const excluded = await admin.post(`/instances/${instanceId}/tool-switch`, { tool: { name: 'opentofu' } });
    expect(excluded.status).toBe(409);
    expect(excluded.text).toContain('the template version needs terraform, the request needs opentofu');
    const template = await steps.publish(specOf());
    const { id } = await admin.make('/instances', { template_id: template, name: 'empty' });
    const empty = await admin.post(`/instances/${id}/tool-switch`, { tool: { name: 'opentofu' } });
    expect(empty.status).toBe(409);
    expect(empty.text).toContain('the instance is not deployed');
  });

  it('that is created with a tool uses it, unless its environment requires another', async () => {
    const { environment } = await makeTenant(api);
    const template = await steps.publish(specOf());
    const wanted = { name: 'terraform', version: '~> 1.11' };
    const made = await admin.make('/instances', { template_id: template, name: 'own', tool: wanted });
    expect(made).toMatchObject({ tool: null, wanted_tool: wanted });
    const { body: run } = await admitAgain(template, { instance: 'own' });
    await steps.next({ runId: run.id });
    expect(await readRun(run.id)).toMatchObject(noWorker([wanted]));
    await admin.patch(`/environments/${environment}`, { tool: { name: 'opentofu' } });
    const place = { template_id: template, environment_id: environment };
    const refused = await admin.post('/instances', { ...place, name: 'other', tool: wanted });
    expect([refused.status, refused.headers['x-error-code']]).toEqual([409, 'tool_conflict']);
    expect(refused.text).toContain('the environment needs opentofu, the instance needs terraform');
    const unread = await admin.post('/instances', { ...place, name: 'x', tool: { name: 'opentofu', version: 'new' } });
    expect(unread.status).toBe(400);
  });

  it('shows that its tool may be switched exactly if the switch is admitted', async () => {
    const { instanceId } = await deploy(terraform('1.11.4'), specOf());
    const actionOf = async () => {
      const { actions } = await readInstance(instanceId);
      return actions.find(({ name }: { name: string }) => name === 'switch_tool');
    };
    expect(await actionOf()).toMatchObject({ allowed: true });
    await api.rows(`update runs set sealed_inputs = '' where instance_id = ?`, [instanceId]);
    const refused = await admin.post(`/instances/${instanceId}/tool-switch`, { tool: { name: 'opentofu' } });
    expect(refused.status).toBe(409);
    expect(await actionOf()).toMatchObject({ allowed: false, reason: refused.body.error });
  });
});
