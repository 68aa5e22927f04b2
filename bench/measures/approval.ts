import { makeWorkplace, publish } from '../catalog.ts';
import type { Bench } from '../installation.ts';
import type { Lab } from '../lab.ts';
import type { Comparison, Measure } from '../measure.ts';
import { admit, awaitStatus } from '../runs.ts';
import { percentile } from '../statistics.ts';

const approvals = 40;

export const approval: Measure = {
  name: 'approval',
  about:
    `From the moment a reviewer sends the approval to the moment the apply starts, one run after another, ${approvals} a round: ` +
    'until the decision to apply is committed (event `run.applying`), and until the first step of the apply, a process in ' +
    'its sandbox, reads the clock.',
  run: async (lab) => {
    const bench = await lab.open('approval');
    try {
      await bench.startWorker();
      return await measure(lab, bench);
    } finally {
      await bench.close();
    }
  },
};

async function measure(lab: Lab, bench: Bench): Promise<Comparison[]> {
  const oneReview = { required: 1, when: 'always', allow_self: true };
  const { teamId, environmentId } = await makeWorkplace(bench.http, { approval_policy: oneReview });
  const templateId = await publish(bench.http, teamId, 'clock', {
    outputs: { at: {} },
    executor: {
      kind: 'command',
      apply: [{ name: 'work', run: ['sh', '-c', `printf '{"at": %s}' "$(date +%s%3N)" > outputs.json`] }],
    },
  });
  const request = { template_id: templateId, environment_id: environmentId };
  const taken: Taken[][] = [];
  for (let round = 0; round <= lab.rounds; round += 1) {
    const times: Taken[] = [];
    for (let count = 0; count < approvals; count += 1) times.push(await approveOne(bench, request));
    lab.report(`${round === 0 ? 'warm-up' : `round ${round}/${lab.rounds}`}: ${describe(times)}`);
    if (round > 0) taken.push(times);
  }
  return [
    show('approval to decision, median', taken, ({ decidedMs }) => decidedMs, 0.5),
    show('approval to decision, p99', taken, ({ decidedMs }) => decidedMs, 0.99),
    show('approval to the first step of apply, median', taken, ({ startedMs }) => startedMs, 0.5),
    show('approval to the first step of apply, p99', taken, ({ startedMs }) => startedMs, 0.99),
  ];
}

/** Milliseconds since the approval was sent. */
interface Taken {
  readonly decidedMs: number;
  readonly startedMs: number;
}

async function approveOne({ http }: Bench, request: object): Promise<Taken> {
  const id = await admit(http, request);
  const { plan } = await awaitStatus(http, id, 'pending_approval');
  const sentAt = Date.now();
  await http.call('POST', `/runs/${id}/approval/review`, { decision: 'approve', plan_digest: plan.digest });
  const { outputs } = await awaitStatus(http, id, 'succeeded');
  const { events } = await http.call('GET', `/runs/${id}/events`);
  const applying = events.find(({ type }: { type: string }) => type === 'run.applying');
  return { decidedMs: Date.parse(applying.at) - sentAt, startedMs: Number(outputs['at']?.value) - sentAt };
}

function show(what: string, taken: readonly Taken[][], figure: (times: Taken) => number, share: number): Comparison {
  const values = taken.map((times) => percentile(times.map(figure), share));
  return { ...{ what, unit: 'ms', target: null, other: null }, service: { arm: 'service', values } };
}

function describe(times: readonly Taken[]): string {
  const started = times.map(({ startedMs }) => startedMs);
  return `started after ${percentile(started, 0.5)} ms (median), ${percentile(started, 0.99)} ms (p99)`;
}
