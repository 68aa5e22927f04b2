import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { openDatabase } from '#open-database';
import { addEnvironment, addPerson, addTeam, type Person, type Policy, publish } from '../access/people.ts';
import { type Caller, ended } from '../api/caller.ts';
import { startSystem } from '../system.ts';

/** A whole service with a template whose steps write a trace and wait at gates, a requester and four reviewers. */
export type RunStage = Awaited<ReturnType<typeof startRunStage>>;

/** The service and the directory by which steps and tests exchange signals. */
async function startService(settings: Record<string, string>) {
  // A directory for steps of any user. A sandbox would hide it from them, so the steps run without one.
  const shared = mkdtempSync(join(tmpdir(), 'coordinator-runs-'));
  chmodSync(shared, 0o777);
  const trace = join(shared, 'trace');
  writeFileSync(trace, '');
  chmodSync(trace, 0o666);
  const system = await startSystem({ COORDINATOR_EXECUTOR_ISOLATION: 'none', ...settings });
  const orm = openDatabase({ databaseUrl: system.database.url, databasePoolSize: 4 });
  return { system, orm, shared, trace, api: { url: system.url, orm } };
}

const waitAtGate = 'while [ -n "$COORDINATOR_VAR_GATE" ] && [ ! -e "$COORDINATOR_VAR_GATE" ]; do sleep 0.05; done';

/** A template that traces the begin and the end of its apply, and waits at the gates that its variables name. */
function specOf(trace: string) {
  const say = (word: string) => `[ -z "$COORDINATOR_VAR_NAME" ] || echo ${word} $COORDINATOR_VAR_NAME >> ${trace}`;
  const plan = `${waitAtGate.replaceAll('VAR_GATE', 'VAR_PLAN_GATE')}; echo '[{"address":"thing","action":"create","before":null,"after":{}}]' > plan.json`;
  const apply = `${say('begin')}; ${waitAtGate}; ${say('end')}; printf '{"token_length": %s}' "$(grep -o '"token": *"[^"]*"' variables.json | wc -c)" > outputs.json`;
  return {
    variables: {
      type: 'object',
      properties: {
        name: { type: 'string', default: '' },
        gate: { type: 'string', default: '' },
        plan_gate: { type: 'string', default: '' },
        token: { type: 'string', writeOnly: true },
      },
    },
    outputs: { token_length: {} },
    executor: {
      kind: 'command',
      plan: [{ name: 'plan', run: ['sh', '-c', plan] }],
      apply: [{ name: 'apply', run: ['sh', '-c', apply] }],
    },
  };
}

async function addPeople({ api, orm }: Awaited<ReturnType<typeof startService>>) {
  const team = await addTeam(orm);
  const addMember = (password?: string) => addPerson(api, 'operator', { teams: { [team.teamId]: 'admin' } }, password);
  const requester = await addMember('correct horse battery');
  const reviewers: Person[] = [];
  for (let index = 0; index < 4; index += 1) reviewers.push(await addMember());
  return { team, requester, reviewers };
}

/** Reads finished runs. */
function readingOf({ system, orm, trace }: Awaited<ReturnType<typeof startService>>) {
  const execute = <Row extends object>(sql: string, ...params: unknown[]) => orm.em.fork().execute<Row[]>(sql, params);
  const awaitRun = (id: string, ...statuses: string[]) => system.administrator.awaitRun(id, statuses);
  const awaitEnd = (id: string) => awaitRun(id, ...ended);
  const read = async (id: string) => (await system.administrator.get(`/runs/${id}`)).body;
  const readEventTypes = async (id: string): Promise<string[]> =>
    (await system.administrator.get(`/runs/${id}/events`)).body.events.map(({ type }: { type: string }) => type);
  const gapped = `select subject_id from domain_events group by subject_kind, subject_id
                  having max(sequence) <> count(*) or min(sequence) <> 1`;
  /** Waits until all runs have ended, and expects that they left nothing behind. */
  const expectAllSettled = async () => {
    const live = await execute<{ id: string }>('select id from runs where finished_at is null');
    for (const { id } of live) await awaitEnd(id);
    expect(await execute(gapped)).toEqual([]);
    expect(await execute('select * from instance_slots')).toEqual([]);
    expect(await execute('select 1 from run_plans where artifact is not null')).toEqual([]);
    await expect.poll(() => execute('select target, payload from outbox')).toEqual([]);
    expect(existsSync(trace)).toBe(true);
  };
  return { execute, awaitRun, awaitEnd, read, readEventTypes, expectAllSettled };
}

/** Admits runs of the requester, unless another caller is given. */
function admittingOf(
  { system, orm }: Awaited<ReturnType<typeof startService>>,
  { requester, team }: Awaited<ReturnType<typeof addPeople>>,
  { awaitRun }: ReturnType<typeof readingOf>,
  templateId: string,
) {
  async function admit(body: object = {}, caller: Caller = requester.caller) {
    const answer = await caller.post('/runs', { template_id: templateId, instance: `i-${randomUUID()}`, ...body });
    expect(answer.status, answer.text).toBe(202);
    return answer.body;
  }
  /** A run that waits for approval under a policy of its environment. */
  async function admitPending(policy: Policy, caller: Caller = requester.caller, body: object = {}) {
    const { environmentId } = await addEnvironment(orm, team.teamId, policy);
    const run = await admit({ environment_id: environmentId, ...body }, caller);
    return awaitRun(run.id, 'pending_approval');
  }
  /** A run that has ended with a status. */
  async function endAs(status: string) {
    if (status === 'failed') {
      const executor = { kind: 'command', apply: [{ name: 'fail', run: ['false'] }] };
      const broken = await publish(system.administrator, { executor });
      return awaitRun((await admit({ template_id: broken })).id, 'failed');
    }
    const { id } = status === 'canceled' ? await admitPending({ required: 1 }) : await admit();
    if (status === 'canceled') await requester.caller.post(`/runs/${id}/cancel`);
    return awaitRun(id, status);
  }
  return { admit, admitPending, endAs };
}

/** Starts the service, publishes the template and adds the people. */
export async function startRunStage(settings: Record<string, string> = {}) {
  const service = await startService(settings);
  const { system, orm, shared } = service;
  const spec = specOf(service.trace);
  const templateId = await publish(system.administrator, spec);
  const people = await addPeople(service);
  const reading = readingOf(service);
  const admitting = admittingOf(service, people, reading, templateId);
  const close = async () => {
    await orm.close();
    await system.close();
    rmSync(shared, { recursive: true, force: true });
  };
  const gates = { newGate: () => join(shared, randomUUID()), openGate: (gate: string) => writeFileSync(gate, '') };
  return { ...service, ...people, ...reading, ...admitting, ...gates, spec, templateId, review, close };
}

function review(
  caller: Caller,
  run: { id: string; plan: { digest: string } },
  decision = 'approve',
  digest = run.plan.digest,
) {
  return caller.post(`/runs/${run.id}/approval/review`, { decision, plan_digest: digest, comment: 'seen' });
}
