import { randomUUID } from 'node:crypto';
import { readUntil } from '#test/support/read-until.ts';
import { addMember, gridOf, makePlace, publishAssembly, publishTemplate } from './harness/assembly-place.ts';
import {
  awaitEnd,
  checkNodes,
  countRuns,
  endsWithinMs,
  type HistorySize,
  longestHistory,
} from './harness/assembly-runs.ts';
import type { Installation } from './harness/installation.ts';

/** The same request is sent this many times at once. */
const repetitions = 50;

export interface AssembliesReport {
  readonly nodes: number;
  readonly runs: number;
  readonly finishedAfterSeconds: number;
  readonly longestHistory: HistorySize;
}

/**
 * Runs a grid of nodes, each of which waits for the one above and the one to the left, while a worker is killed, Temporal and PostgreSQL are
 * restarted, and the template is yanked. Every node must have succeeded once in the end.
 */
export async function disruptGrid(
  installation: Installation,
  { rows, columns }: { rows: number; columns: number },
): Promise<AssembliesReport> {
  const { requester, violations } = installation;
  const place = await makePlace(installation);
  const template = await publishTemplate(installation, place);
  const id = await publishAssembly(installation, place, gridOf(template.slug, rows, columns));
  const key = randomUUID();
  const body = { environment_id: place.environmentId };
  const answers = await Promise.all(
    Array.from({ length: repetitions }, () =>
      requester.sendWithRetries('POST', `/assemblies/${id}/runs`, body, { 'idempotency-key': key }),
    ),
  );
  const ids = new Set(answers.map(({ body: run }) => run?.id));
  if (ids.size !== 1) violations.push(`one key started ${ids.size} assembly runs: ${[...ids].join(', ')}`);
  const path = `/assemblies/${id}/runs/${[...ids][0]}`;
  await refuseDeletion(installation, id);
  await disrupt(installation, { path, template, count: rows * columns });
  const disruptedAt = Date.now();
  const run = await awaitEnd(installation, path);
  if (run.status !== 'succeeded') violations.push(`the grid ended ${run.status} (${run.status_reason})`);
  await checkNodes(installation, String(run.id), rows * columns);
  return {
    nodes: rows * columns,
    runs: await countRuns(installation, String(run.id)),
    finishedAfterSeconds: Math.round((Date.now() - disruptedAt) / 1000),
    longestHistory: await longestHistory(installation, String(run.id)),
  };
}

async function disrupt(
  { workers, temporal, postgres, requester }: Installation,
  { path, template, count }: { path: string; template: { id: string }; count: number },
): Promise<void> {
  const until = (share: number) => awaitEnded({ requester }, path, Math.floor(count * share));
  await until(0.1);
  await workers[0]?.kill('SIGKILL');
  await workers[0]?.start();
  await requester.call('POST', `/registry/templates/${template.id}/versions/1.0.0/yank`, {});
  await until(0.3);
  await temporal.kill();
  await temporal.start();
  await until(0.5);
  await postgres.kill();
  await postgres.start();
}

/** Waits until `count` nodes have succeeded, or the run has ended. */
async function awaitEnded({ requester }: Pick<Installation, 'requester'>, path: string, count: number): Promise<void> {
  const read = () => requester.call('GET', path);
  const countSucceeded = ({ nodes }: { nodes: object }) =>
    Object.values(nodes).filter((status) => status === 'succeeded').length;
  await readUntil(read, (run) => countSucceeded(run) >= count || run.finished_at !== null, endsWithinMs);
}

/** An assembly whose run has not ended cannot be deleted. */
async function refuseDeletion({ requester, violations }: Installation, id: string): Promise<void> {
  const { status } = await requester.sendWithRetries('DELETE', `/assemblies/${id}`, undefined, {});
  if (status !== 409) violations.push(`deleting an assembly whose run has not ended answered ${status}`);
}

/**
 * Removes the membership of whoever started an assembly run while its first node waits for approval: the nodes behind it must not run for
 * somebody who has no authority any more. Then somebody else resumes it.
 */
export async function removeRequester(installation: Installation): Promise<void> {
  const { requester, approver, violations } = installation;
  const place = await makePlace(installation);
  const template = await publishTemplate(installation, place);
  const waits = {
    template: template.slug,
    instance: `w-${randomUUID()}`,
    approval: { required: 1, allow_self: false },
  };
  const nodes = {
    first: waits,
    second: { template: template.slug, instance: `s-${randomUUID()}`, depends_on: ['first'] },
  };
  const id = await publishAssembly(installation, place, { nodes });
  const { member, leave } = await addMember(installation, place);
  const started = await member.sendWithRetries(
    'POST',
    `/assemblies/${id}/runs`,
    { environment_id: place.environmentId },
    {},
  );
  if (started.status !== 202) throw new Error(`a member could not start the assembly: ${JSON.stringify(started.body)}`);
  const path = `/assemblies/${id}/runs/${started.body.id}`;
  const node = await awaitPending(installation, `${path}/nodes/first`);
  await leave();
  await approver.call('POST', `${path}/nodes/first/approve`, { decision: 'approve', plan_digest: node.plan.digest });
  const run = await awaitEnd(installation, path);
  const { reason } = await requester.call('GET', `${path}/nodes/second`);
  if (run.status !== 'failed' || reason?.code !== 'not_permitted')
    violations.push(`a node ran for somebody who had left: ${run.status} ${JSON.stringify(reason)}`);
  await requester.call('POST', `${path}/resume`, {});
  const resumed = await awaitEnd(installation, path);
  if (resumed.status !== 'succeeded') violations.push(`the resumed assembly run ended ${resumed.status}`);
}

async function awaitPending({ requester }: Installation, path: string) {
  const read = () => requester.call('GET', path);
  const node = await readUntil(read, ({ status }) => status === 'pending_approval', 60_000);
  if (node.status === 'pending_approval') return node;
  throw new Error(`${path} does not wait for approval: ${JSON.stringify(node)}`);
}
