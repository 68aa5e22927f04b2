import { afterAll, beforeAll, expect, test } from 'vitest';
import { addFinding, addMonitor, type Execute } from '#test/support/drift/drift-rows.ts';
import { at, orders } from '#test/support/races/race.ts';
import { RaceStage, type Staged, type Use } from '#test/support/races/race-stage.ts';
import { type RivalName, rivalNames } from '#test/support/races/rivals.ts';
import { raced, seed } from '#test/support/races/sample.ts';

let races: RaceStage;
beforeAll(async () => {
  races = await RaceStage.start();
});
afterAll(() => races?.close());

/** A finding about the present deployment, and the body that remedies it. */
async function addDrift({ api, tenant, instance, run }: Staged) {
  const execute: Execute = (sql, values) => api.rows(sql, values);
  const { team, environment } = tenant;
  const monitor = await addMonitor(execute, { instance, team, environment });
  const { finding, evidence } = await addFinding(execute, { monitor, instance, team, run });
  await api.rows(
    'update drift_evidence set state_serial = (select state_serial from instances where id = ?) where id = ?',
    [instance, evidence],
  );
  const body = { evidence_id: evidence, expected_revision: 1, direction: 'revert' };
  return { path: `/drift-findings/${finding}/remediation`, body };
}

const remediation: Use = async (staged) => {
  const { path, body } = await addDrift(staged);
  return () => staged.user.post(path, body);
};

/** `late`: the response to the remediation if the rival comes first. `rival`: the response to the rival if the remediation comes first. */
const endings: Record<RivalName, { late: string; rival: string }> = {
  'a transfer of the project': { late: '404 not_found', rival: '409 in_use' },
  'a transfer of the team': { late: '202', rival: '200' },
  'the archiving of the environment': { late: '409 archived', rival: '409 in_use' },
  'the deletion of the environment': { late: '404 not_found', rival: '409 in_use' },
  'the deletion of the instance': { late: '202', rival: '409 in_use' },
  // The inputs of the present deployment are kept.
  'the deletion of the run': { late: '202', rival: '204' },
  'the yank of the version': { late: '202', rival: '200' },
  'the revocation of the key': { late: '401 unauthenticated', rival: '204' },
  'the removal of the member': { late: '404 not_found', rival: '204' },
  'the demotion of the member': { late: '403 permission_denied', rival: '200' },
  'the import of a state': { late: '202', rival: '409 state_exists' },
  'the unlocking of the instance': { late: '202', rival: '200' },
  'another run of the instance': { late: '202', rival: '202' },
  'a run of another template': { late: '202', rival: '202' },
};

const runsBeside = ['another run of the instance', 'a run of another template'];
test.each(raced(rivalNames, 'remediation'))(
  `a remediation and, at another service (seed ${seed}), %s (%s): the later one is refused by its rule, or finds a governed run`,
  async (rival, order) => {
    const { staged, used, outcome, admitted } = await races.meet(remediation, rival, order);
    const { late, rival: second } = endings[rival];
    if (order === 'use first') expect(outcome).toEqual({ used: '202', rival: second });
    else expect(outcome.used).toBe(late);
    if (outcome.used !== '202') {
      expect(admitted).toEqual([]);
      return;
    }
    expect(admitted).toEqual([used.body.id]);
    const { stage, api, instance } = staged;
    if (runsBeside.includes(rival) && order !== 'use first') {
      const [other] = await api.rows<{ id: string }>(
        'select id from runs where instance_id = ? and finished_at is null order by instance_position',
        [instance],
      );
      await stage.apply(other?.id ?? '');
      expect(await stage.next(used.body.id)).toEqual({ kind: 'end' });
    } else await stage.planOnly(used.body.id, ['thing.a']);
    const [run] = await api.rows<{ end: string }>(
      `select concat_ws(' ', status, status_reason) as end from runs where id = ?`,
      [used.body.id],
    );
    expect(run?.end).toBe(runsBeside.includes(rival) && order !== 'use first' ? 'failed stale' : 'pending_approval');
  },
);

test.each(orders)('remediations of one finding at two services (%s) admit one run', async (order) => {
  const sameRemediation: Use = async ({ api, tenant }) => {
    const [row] = await api.rows<{ finding: string; evidence: string }>(
      'select id as finding, evidence_id as evidence from drift_findings order by id desc limit 1',
    );
    const body = { evidence_id: row?.evidence, expected_revision: 1, direction: 'revert' };
    return () => at(races.there, tenant.owner).post(`/drift-findings/${row?.finding}/remediation`, body);
  };
  const { outcome } = await races.meet(remediation, sameRemediation, order);
  expect(Object.values(outcome).sort()).toEqual(['202', '409 remediation_running']);
});
