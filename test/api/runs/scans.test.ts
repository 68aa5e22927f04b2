import { randomUUID } from 'node:crypto';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deviationsOf } from '#domain/runs/plans/deviations.ts';
import { readPlan } from '#domain/runs/store.ts';
import { addEnvironment, addPerson, addTeam, publish } from '#test/support/access/people.ts';
import { type RunStage, startRunStage } from '#test/support/runs/run-stage.ts';
import { scannerOf } from '#test/support/runs/scanner.ts';
import { unwatched } from '#test/support/status-changes.ts';

/** Scans of real files that a command template owns, and of resources of a real OpenTofu. */

let at: RunStage;
let scan: ReturnType<typeof scannerOf>;
let ownsFile: string;
let ownsResource: string;
beforeAll(async () => {
  at = await startRunStage();
  scan = scannerOf(at.orm, at.system.config);
  ownsFile = await publish(at.system.administrator, fileSpec());
  ownsResource = await publish(at.system.administrator, resourceSpec);
});
afterAll(() => at?.close());

const waitAtGate = (name: string) =>
  `while [ -n "$COORDINATOR_VAR_${name}" ] && [ ! -e "$COORDINATOR_VAR_${name}" ]; do sleep 0.05; done`;

/** Writes a text into a file, and compares the file with the text. All of its steps print its secret. */
function fileSpec() {
  const text = (properties: object = {}) => ({ type: 'string', default: '', ...properties });
  const secret = `grep -o '"token":"[^"]*"' variables.json`;
  const detect = `
    ${secret}; ${waitAtGate('DETECT_GATE')}
    if [ ! -e "$COORDINATOR_VAR_FILE" ]; then
      printf '[{"address":"file.text","action":"delete","before":{"text":"%s"},"after":null}]' "$COORDINATOR_VAR_TEXT" > plan.json
    elif [ "$(cat "$COORDINATOR_VAR_FILE")" = "$COORDINATOR_VAR_TEXT" ]; then echo '[]' > plan.json
    else printf '[{"address":"file.text","action":"update","before":{"text":"%s"},"after":{"text":"%s"}}]' \\
      "$COORDINATOR_VAR_TEXT" "$(cat "$COORDINATOR_VAR_FILE")" > plan.json; fi
    echo '{"kept":"by a scan"}' > state.json`;
  return {
    variables: {
      type: 'object',
      properties: {
        file: text(),
        text: text(),
        gate: text(),
        detect_gate: text(),
        token: { type: 'string', writeOnly: true },
      },
    },
    executor: {
      kind: 'command',
      apply: [
        {
          name: 'write',
          run: ['sh', '-c', `${waitAtGate('GATE')}; printf %s "$COORDINATOR_VAR_TEXT" > "$COORDINATOR_VAR_FILE"`],
        },
      ],
      detect: [{ name: 'compare', run: ['sh', '-c', detect] }],
    },
  };
}

/** What the resources shall hold is in a file outside, which changes behind the back of the service. */
const resourceSpec = {
  variables: { type: 'object', properties: { origin: { type: 'string' } } },
  executor: {
    kind: 'opentofu',
    files: {
      'main.tf': `
        variable "origin" { type = string }
        resource "terraform_data" "read" { input = { tags = jsondecode(file(var.origin)) } }
        resource "terraform_data" "secret" { input = sensitive(file("\${var.origin}.secret")) }
        resource "terraform_data" "same" { input = "same" }`,
    },
  },
};

const newPath = () => join(at.shared, randomUUID());

/** Deploys a file. Returns its instance, its run and its path. */
async function deploy(variables: object = {}, more: object = {}) {
  const path = newPath();
  const admitted = await at.admit({
    template_id: ownsFile,
    variables: { file: path, text: 'as deployed', token: 'hush-hush-hush', ...variables },
    ...more,
  });
  const run = await at.awaitEnd(admitted.id);
  expect(run.status).toBe('succeeded');
  return { path, instance: run.instance as string, instanceId: run.instance_id as string, run };
}

async function deviationsIn(id: string) {
  const plan = await readPlan(at.orm.em.fork(), id);
  return deviationsOf(plan?.changes ?? []).map(({ address, path, before, after }) => ({
    address,
    path,
    before,
    after,
  }));
}

describe('a scan', () => {
  it('a scan of an unchanged instance succeeds without deviations, as the version and the inputs were deployed', async () => {
    const template = await publish(at.system.administrator, fileSpec());
    const { instanceId, path, run } = await deploy({}, { template_id: template });
    const monitor = randomUUID();
    const other = {
      version: '2.0.0',
      spec: { executor: { kind: 'command', apply: [{ name: 'fail', run: ['false'] }] } },
    };
    await at.system.administrator.post(`/registry/templates/${template}/versions`, other);
    const id = await scan(instanceId, { driftMonitorId: monitor });
    expect(await at.awaitEnd(id)).toMatchObject({
      status: 'succeeded',
      status_reason: null,
      operation: 'scan',
      template_version: run.template_version,
      variables: { text: 'as deployed', token: { sensitive: true } },
      requested_by: { type: 'system', id: null, name: 'drift monitor' },
      drift_monitor_id: monitor,
    });
    expect(await deviationsIn(id)).toEqual([]);
    expect(existsSync(path)).toBe(true);
  });

  it('reports what was changed or removed outside of the service, and stores no state', async () => {
    const { instanceId, path } = await deploy();
    writeFileSync(path, 'changed');
    const changed = await scan(instanceId);
    await at.awaitEnd(changed);
    expect(await deviationsIn(changed)).toEqual([
      {
        address: 'file.text',
        path: 'text',
        before: 'as deployed',
        after: 'changed',
      },
    ]);
    writeFileSync(path, 'changed, and says hush-hush-hush');
    const leaking = await scan(instanceId);
    await at.awaitEnd(leaking);
    expect(await deviationsIn(leaking)).toMatchObject([{ path: 'text', after: { sensitive: true } }]);
    rmSync(path);
    const gone = await scan(instanceId);
    await at.awaitEnd(gone);
    expect(await deviationsIn(gone)).toEqual([
      { address: 'file.text', path: '', before: { text: 'as deployed' }, after: null },
    ]);
    const { body } = await at.system.administrator.get(`/instances/${instanceId}`);
    expect(body).toMatchObject({ state_serial: 0 });
    const [chunk] = await at.execute<{ phases: string; leaks: number }>(
      `select string_agg(distinct phase, ',') as phases, count(*) filter (where position('hush-hush-hush' in convert_from(content, 'UTF8')) > 0)::int as leaks
       from run_log_chunks where run_id = ?`,
      gone,
    );
    expect(chunk).toEqual({ phases: 'detect', leaks: 0 });
  });

  it('a scan of OpenTofu reports address, path and both values of deviations, with secrets masked', async () => {
    const source = newPath();
    writeFileSync(source, '{"env": "dev", "owner": "ana"}');
    writeFileSync(`${source}.secret`, 'first-secret-value');
    const run = await at.awaitEnd((await at.admit({ template_id: ownsResource, variables: { origin: source } })).id);
    expect(run.status, (await at.system.administrator.get(`/runs/${run.id}/logs`)).text).toBe('succeeded');
    const unchanged = await scan(run.instance_id);
    expect(await at.awaitEnd(unchanged)).toMatchObject({ status: 'succeeded' });
    expect(await deviationsIn(unchanged)).toEqual([]);
    writeFileSync(source, '{"env": "prod", "owner": "ana"}');
    writeFileSync(`${source}.secret`, 'second-secret-value');
    const id = await scan(run.instance_id);
    expect(await at.awaitEnd(id)).toMatchObject({ status: 'succeeded', tool: { name: expect.any(String) } });
    expect(await deviationsIn(id)).toEqual([
      { address: 'terraform_data.read', path: 'input.tags.env', before: 'prod', after: 'dev' },
      { address: 'terraform_data.secret', path: 'input', before: { sensitive: true }, after: { sensitive: true } },
    ]);
    const stored = await at.execute<{ text: string; artifact: null }>(
      'select changes::text as text, artifact from run_plans where run_id = ?',
      id,
    );
    const { text: shown } = await at.system.administrator.get(`/runs/${id}/plan`);
    expect(stored[0]?.text).toContain('"digest"');
    expect(JSON.parse(shown).changes.flatMap((change: { sensitive: object[] }) => change.sensitive)).not.toContainEqual(
      expect.objectContaining({ digest: expect.anything() }),
    );
    expect(stored).toEqual([{ text: expect.not.stringContaining('-secret-value'), artifact: null }]);
    expect((await at.read(id)).state_serial_after).toBeNull();
  });

  it('runs while another run of the instance waits for approval, and stops once that run applies', async () => {
    const { environmentId } = await addEnvironment(at.orm, at.team.teamId, { required: 1 });
    const [file, gate] = [newPath(), newPath()];
    const request = {
      template_id: ownsFile,
      environment_id: environmentId,
      instance: `i-${randomUUID()}`,
      variables: { file, text: 'one', detect_gate: gate },
    };
    const first = await at.awaitRun((await at.admit(request)).id, 'pending_approval');
    await at.review(at.reviewers[0]!.caller, first);
    const { instance_id: instance } = await at.awaitEnd(first.id);
    const waiting = await at.awaitRun((await at.admit(request)).id, 'pending_approval');
    at.openGate(gate);
    expect(await at.awaitEnd(await scan(instance))).toMatchObject({ status: 'succeeded' });
    expect(await at.system.administrator.get(`/instances/${instance}`)).toMatchObject({
      body: { locked_by_run_id: waiting.id },
    });
    rmSync(gate);
    const looking = await scan(instance);
    await at.awaitRun(looking, 'running');
    await at.review(at.reviewers[0]!.caller, waiting);
    expect((await at.awaitEnd(waiting.id)).status).toBe('succeeded');
    expect(await at.awaitEnd(looking)).toMatchObject({
      status: 'canceled',
      status_reason: 'gave_way',
      cancel_reason: null,
    });
    expect(await at.readEventTypes(looking)).toContain('run.gave_way');
  });

  it('stops for a run that begins or is already changing the instance', async () => {
    const detectGate = newPath();
    const { instance, instanceId, path } = await deploy({ detect_gate: detectGate });
    const looking = await scan(instanceId);
    await at.awaitRun(looking, 'running');
    const gate = at.newGate();
    const writer = await at.admit({
      template_id: ownsFile,
      instance,
      variables: { file: path, text: 'again', gate, detect_gate: detectGate },
    });
    const gaveWay = { status: 'canceled', status_reason: 'gave_way', operation: 'scan' };
    expect(await at.awaitEnd(looking)).toMatchObject(gaveWay);
    await at.awaitRun(writer.id, 'running');
    expect(await at.awaitEnd(await scan(instanceId))).toMatchObject(gaveWay);
    at.openGate(gate);
    expect((await at.awaitEnd(writer.id)).status).toBe('succeeded');
    at.openGate(detectGate);
    expect(await at.awaitEnd(await scan(instanceId))).toMatchObject({ status: 'succeeded' });
  });

  it('does not delay a plan of the instance', async () => {
    const { instance, instanceId, path } = await deploy({ detect_gate: newPath() });
    const looking = await scan(instanceId);
    await at.awaitRun(looking, 'running');
    const plan = await at.admit({ template_id: ownsFile, instance, operation: 'plan', variables: { file: path } });
    expect((await at.awaitEnd(plan.id)).status).toBe('succeeded');
    expect((await at.read(looking)).status).toBe('running');
    const canceled = await at.system.administrator.post(`/runs/${looking}/cancel`, { reason: 'enough' });
    expect(canceled.status).toBe(202);
    expect(await at.awaitEnd(looking)).toMatchObject({ status: 'canceled', status_reason: 'canceled_by_user' });
  });

  it('can be read like any run of its team, and is only in lists of scans', async () => {
    const { environmentId } = await addEnvironment(at.orm, at.team.teamId, { required: 0 });
    const { instanceId, run } = await deploy({}, { environment_id: environmentId });
    const id = await scan(instanceId);
    await at.awaitEnd(id);
    const { caller } = at.requester;
    const idsOf = async (query: string): Promise<string[]> =>
      (await caller.get(`/runs?team_id=${at.team.teamId}&${query}`)).body.runs.map((each: { id: string }) => each.id);
    expect(await idsOf(`instance_id=${instanceId}`)).toEqual([run.id]);
    expect(await idsOf(`instance_id=${instanceId}&status=succeeded`)).toEqual([run.id]);
    expect(await idsOf(`instance_id=${instanceId}&operation=scan`)).toEqual([id]);
    const { body: counted } = await caller.get(`/runs/statistics?team_id=${at.team.teamId}&instance_id=${instanceId}`);
    expect(counted.totals ?? counted.total).toMatchObject({ succeeded: 1 });
    const stranger = await addPerson(at.api, 'operator', { teams: { [(await addTeam(at.orm)).teamId]: 'admin' } });
    for (const part of ['', '/plan', '/logs', '/events'])
      expect((await stranger.caller.get(`/runs/${id}${part}`)).status).toBe(404);
    expect((await caller.get(`/runs/${id}/plan`)).status).toBe(200);
    expect(await caller.post(`/runs/${id}/requeue`)).toMatchObject({
      status: 409,
      body: { error: expect.stringMatching(/^a scan cannot be requeued/) },
    });
    const requested = { template_id: ownsFile, operation: 'scan' };
    expect((await caller.post('/runs', requested)).status).toBe(400);
  });

  it('is refused if nothing is deployed, the template has no detect steps, or the environment is archived', async () => {
    await expect(scan(randomUUID())).rejects.toMatchObject({ code: 'nothing_to_run_for' });
    const { instance_id: planned } = await at.awaitEnd((await at.admit({ operation: 'plan' })).id);
    await expect(scan(planned)).rejects.toMatchObject({ code: 'nothing_deployed' });
    const { instance_id: blind } = await at.awaitEnd((await at.admit()).id);
    await expect(scan(blind)).rejects.toMatchObject({ code: 'operation_unsupported' });
    const { environmentId } = await addEnvironment(at.orm, at.team.teamId, { required: 0 });
    const { instanceId } = await deploy({}, { environment_id: environmentId });
    const archiving = 'update environments set archived_at = now() where id = ?';
    await unwatched(at.orm, () => at.execute(archiving, environmentId));
    await expect(scan(instanceId)).rejects.toMatchObject({ code: 'archived' });
  });

  it('leaves no gap in events, no lock and no message to the engine', () => at.expectAllSettled());
});
