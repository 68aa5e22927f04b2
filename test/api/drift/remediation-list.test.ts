import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { changed, type DriftStage, makeDriftStage } from '#test/support/drift/drift-stage.ts';
import { copyRun, countReads } from '#test/support/runs/many-runs.ts';

/** How many other runs the instance of the finding has had since its remediation. */
const many = 6_000;

let api: TestApi;
let stage: DriftStage;
let finding: string;
let remediation: string;
beforeAll(async () => {
  api = await startApi();
  stage = await makeDriftStage(api);
  const { owner } = stage.tenant;
  const watched = await stage.watched();
  await stage.scan(watched, [changed({ input: 'a' }, { input: 'b' })]);
  const [found] = await stage.findings(`monitor_id=${watched.monitor}`);
  if (!found) throw new Error('the scan opened no finding');
  finding = found.id;
  const body = { evidence_id: found.evidence.id, expected_revision: found.revision, direction: 'revert' };
  ({ id: remediation } = (await owner.post(`/drift-findings/${finding}/remediation`, body)).body);
  await copyRun(api, remediation, many, { drift_finding_id: 'null' });
});
afterAll(() => api?.close());

describe('while the instance of a finding has thousands of younger runs', () => {
  it.each(['scope=readable', 'team', 'status=queued&team'])(
    "a list of the finding's remediations reads few rows (%s)",
    async (query) => {
      const { owner, team } = stage.tenant;
      const path = `/runs?drift_finding_id=${finding}&${query.replace('team', `team_id=${team}`)}`;
      expect(await countReads(api, () => owner.get(path))).toBeLessThan(many / 10);
      const { body } = await owner.get(path);
      expect(body.runs.map(({ id }: { id: string }) => id)).toEqual([remediation]);
    },
  );

  it('reading the finding reads few rows', async () => {
    const { owner } = stage.tenant;
    expect(await countReads(api, () => owner.get(`/drift-findings/${finding}`))).toBeLessThan(many / 10);
    expect(await countReads(api, () => owner.get('/drift-findings'))).toBeLessThan(many / 10);
  });
});
