import type { Answer, Caller } from '#test/support/api/caller.ts';
import { readUntil } from '#test/support/read-until.ts';
import type { System } from '#test/support/system.ts';
import { commands, publish, runToEnd } from '#test/support/templates.ts';

/** Operations that get an id of something that exists, by a pattern of their ids. Without one, generated requests name nothing. */
export type KnownIds = Readonly<Record<string, string>>;

/** A machine of size 1 is found to be of size 9. */
const detect = `test "$COORDINATOR_VAR_SIZE" = 1 && echo '[{"address":"machine","action":"update","before":{"size":1},"after":{"size":9}}]' > plan.json || echo '[]' > plan.json`;
const machine = {
  variables: { type: 'object', properties: { size: { type: 'integer' } } },
  ...commands({ make: 'true' }, { detect: [{ name: 'look', run: ['sh', '-c', detect] }] }),
};

/** Makes a monitor with a finding, a schedule, and an attempt at undoing a run. */
export async function makeKnownIds({ administrator }: System): Promise<KnownIds> {
  const { id: organization } = await make(administrator, '/organizations', { name: 'Known' });
  const { id: team } = await make(administrator, `/organizations/${organization}/teams`, { name: 'Known' });
  const { id: project } = await make(administrator, '/projects', { team_id: team, name: 'Known' });
  const made = { project_id: project, name: 'Known', kind: 'development' };
  const { id: environment } = await make(administrator, '/environments', made);
  const template = await publish(administrator, 'known-machine', machine, team);
  const place = { template_id: template, environment_id: environment };
  const deploy = (instance: string, size: number) =>
    runToEnd(administrator, { ...place, instance, variables: { size } }, ['succeeded']);
  const { instance_id: drifted } = await deploy('drifted', 1);
  await deploy('undone', 1);
  const run = await deploy('undone', 2);
  const key = { 'idempotency-key': crypto.randomUUID() };
  const attempt = await administrator.post(`/runs/${run.id}/selective-undo/check`, {}, key);
  const every = { every: 'PT6H' };
  const monitor = await make(administrator, '/drift-monitors', { instance_id: drifted, schedule: every });
  const finding = await findDrift(administrator, monitor.id);
  const work = { run: { ...place, instance: 'other', operation: 'plan' } };
  const schedule = await make(administrator, '/schedules', { team_id: team, name: 'Known', schedule: every, work });
  return {
    '^drift_monitors\\.(get|update|scan|list_scans|get_ignore_rules|set_ignore_rules)$': monitor.id,
    '^drift_findings\\.(get|list_evidence|suppress|reopen|remediate)$': finding,
    '^schedules\\.(get|update|trigger)$': schedule.id,
    '^selective_undo\\.': attempt.body.id,
    '^runs\\.(list_selective_undo|check_selective_undo)$': run.id,
  };
}

/** Scans, and returns the id of the finding. */
async function findDrift(caller: Caller, monitor: string): Promise<string> {
  const scan = await caller.post(`/drift-monitors/${monitor}/scan`);
  await caller.awaitRun(scan.body.id, ['succeeded']);
  const read = async () => (await caller.get(`/drift-findings?monitor_id=${monitor}`)).body.drift_findings;
  const [finding] = await readUntil(read, ({ length }) => length > 0, 60_000);
  return finding.id;
}

async function make(caller: Caller, path: string, body: object): Promise<Answer['body']> {
  const answer = await caller.post(path, body);
  if (answer.status !== 201) throw new Error(`POST ${path} answered ${answer.status}: ${answer.text}`);
  return answer.body;
}

/** Tells Schemathesis about them, in its language of settings. */
export function toSettings(ids: KnownIds): string {
  const settings = Object.entries(ids).map(
    ([pattern, id]) =>
      `[[operations]]\ninclude-operation-id-regex = '${pattern}'\nparameters = { "path.id" = "${id}" }\n`,
  );
  return settings.join('\n');
}
