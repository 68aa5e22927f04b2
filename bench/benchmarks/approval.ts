import type { Benchmark, Comparison } from '../benchmark.ts';
import type { Installation } from '../installation/installation.ts';
import type { Testbed } from '../installation/testbed.ts';
import { admitRun, waitForStatus } from '../load/runs.ts';
import { createTenant, publish } from '../load/tenant.ts';
import { percentile } from '../report/statistics.ts';

const approvals = 40;

export const approval: Benchmark = {
  name: 'approval',
  about:
    `The time from a reviewer's approval request to the start of the apply, for ${approvals} runs one after another in each round. ` +
    '"Decision": until the decision to apply is committed (event `run.applying`). "First step": until the first step of the ' +
    'apply, a process in its sandbox, reads the clock.',
  run: async (testbed) => {
    const installation = await testbed.open('approval');
    try {
      await installation.startWorker();
      return await measure(testbed, installation);
    } finally {
      await installation.close();
    }
  },
};

async function measure(testbed: Testbed, installation: Installation): Promise<Comparison[]> {
  const oneReview = { required: 1, when: 'always', allow_self: true };
  const { teamId, environmentId } = await createTenant(installation.http, { approval_policy: oneReview });
  const templateId = await publish(installation.http, teamId, 'clock', {
    outputs: { at: {} },
    executor: {
      kind: 'command',
      apply: [{ name: 'work', run: ['sh', '-c', `printf '{"at": %s}' "$(date +%s%3N)" > outputs.json`] }],
    },
  });
  const request = { template_id: templateId, environment_id: environmentId };
  const latencies: Latencies[][] = [];
  for (let round = 0; round <= testbed.rounds; round += 1) {
    const times: Latencies[] = [];
    for (let count = 0; count < approvals; count += 1) times.push(await approveOne(installation, request));
    testbed.report(`${round === 0 ? 'warm-up' : `round ${round}/${testbed.rounds}`}: ${describe(times)}`);
    if (round > 0) latencies.push(times);
  }
  return [
    toComparison('approval to decision, median', latencies, ({ decidedMs }) => decidedMs, 0.5),
    toComparison('approval to decision, p99', latencies, ({ decidedMs }) => decidedMs, 0.99),
    toComparison('approval to the first step of apply, median', latencies, ({ startedMs }) => startedMs, 0.5),
    toComparison('approval to the first step of apply, p99', latencies, ({ startedMs }) => startedMs, 0.99),
  ];
}

/** How many milliseconds after the approval was sent. */
interface Latencies {
  readonly decidedMs: number;
  readonly startedMs: number;
}

async function approveOne({ http }: Installation, request: object): Promise<Latencies> {
  const id = await admitRun(http, request);
  const { plan } = await waitForStatus(http, id, 'pending_approval');
  const sentAt = Date.now();
  await http.call('POST', `/runs/${id}/approval/review`, { decision: 'approve', plan_digest: plan.digest });
  const { outputs } = await waitForStatus(http, id, 'succeeded');
  const { events } = await http.call('GET', `/runs/${id}/events`);
  const applying = events.find(({ type }: { type: string }) => type === 'run.applying');
  return { decidedMs: Date.parse(applying.at) - sentAt, startedMs: Number(outputs['at']?.value) - sentAt };
}

function toComparison(
  what: string,
  latencies: readonly Latencies[][],
  figure: (times: Latencies) => number,
  share: number,
): Comparison {
  const values = latencies.map((times) => percentile(times.map(figure), share));
  return { what, unit: 'ms', target: null, other: null, service: { arm: 'service', values } };
}

function describe(times: readonly Latencies[]): string {
  const started = times.map(({ startedMs }) => startedMs);
  return `started after ${percentile(started, 0.5)} ms (median), ${percentile(started, 0.99)} ms (p99)`;
}
