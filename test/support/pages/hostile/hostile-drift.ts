import type { ResourceChange } from '#domain/runs/plans/model.ts';
import type { TestApi } from '../../api/in-process-api.ts';
import { endScan } from '../../drift/drift-stage.ts';
import { required } from '../answers.ts';
import { latestEvidence } from '../drift/add-drift.ts';
import type { People } from '../people.ts';
import { hostileName, hostileText, longWord } from './texts.ts';

/** A monitor and findings whose every text attacks the pages that show it. */
export interface HostileDrift {
  readonly monitor: string;
  /** One with a value of several lines, and one with an address that never ends. */
  readonly findings: readonly string[];
  readonly suppressed: string;
}

const line = hostileText.replaceAll('\n', ' ');
const many = (mark: string) => Array.from({ length: 3000 }, (_, at) => `line ${at} ${at % 7 ? '' : mark}`).join('\n');

/** What differs: addresses and attributes that lie, and values of every shape. */
const changes: readonly ResourceChange[] = [
  {
    address: line,
    action: 'update',
    before: { [hostileName()]: hostileText, [longWord(400)]: longWord(400), same: 1 },
    after: { [hostileName()]: `${hostileText}!`, [longWord(400)]: 'y'.repeat(50_000), same: 1 },
  },
  { address: longWord(400), action: 'update', before: { text: many('a') }, after: { text: many('b') } },
  {
    address: `a["${hostileName()}"]`,
    action: 'delete',
    before: { text: hostileText, list: [longWord(400)] },
    after: null,
  },
  { address: 'proto.one', action: 'update', before: { constructor: 1 }, after: { constructor: { sensitive: 'true' } } },
];

/** Adds a monitor of an instance with a scan that found all of it, and one that failed. */
export async function addHostileDrift(
  api: TestApi,
  { owner }: People,
  { instance, run }: { readonly instance: string; readonly run: string },
): Promise<HostileDrift> {
  const made = required(
    await owner.post('/drift-monitors', { instance_id: instance, schedule: { every: 'P1D' } }),
    201,
  );
  const monitor = made.id as string;
  const hours = (ago: number) => new Date(Date.now() - ago * 3600_000);
  await endScan(api, { monitor, run }, changes.slice(0, 1), { at: hours(9) });
  await endScan(api, { monitor, run }, changes, { at: hours(6) });
  const rules = [
    { address: longWord(400), path: longWord(400) },
    { address: 'x.*', path: hostileName() },
  ];
  required(await owner.put(`/drift-monitors/${monitor}/ignore-rules`, { rules }), 200);
  const failure = { at: hours(1), code: 'plan_failed', message: hostileText, runId: null };
  await api.rows('update drift_monitors set last_failure = ? where id = ?', [JSON.stringify(failure), monitor]);
  const found = await api.rows<{ id: string }>('select id from drift_findings where monitor_id = ? order by id', [
    monitor,
  ]);
  const [suppressed = '', ...findings] = found.map(({ id }) => id);
  const until = new Date(Date.now() + 24 * 3600_000).toISOString();
  const reason = hostileText.slice(0, 1000);
  required(
    await owner.post(`/drift-findings/${suppressed}/suppress`, {
      evidence_id: await latestEvidence(api, suppressed),
      reason,
      until,
    }),
    200,
  );
  return { monitor, findings, suppressed };
}
