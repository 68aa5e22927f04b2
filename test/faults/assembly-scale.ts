import { randomUUID } from 'node:crypto';
import { chainOf, fanOf, makePlace, publishAssembly, publishTemplate } from './harness/assembly-place.ts';
import { awaitEnd, checkNodes, type HistorySize, longestHistory } from './harness/assembly-runs.ts';
import type { Installation } from './harness/installation.ts';

export interface ScaleReport {
  readonly what: string;
  readonly seconds: number;
  readonly longestHistory: HistorySize;
}

/** Runs a chain and then a fan of `nodes` nodes. */
export async function runLargeShapes(installation: Installation, nodes: number): Promise<ScaleReport[]> {
  const place = await makePlace(installation);
  const { slug } = await publishTemplate(installation, place);
  const shapes = {
    [`a chain of ${nodes} nodes`]: chainOf(slug, nodes),
    [`a fan of ${nodes} nodes`]: fanOf(slug, nodes),
  };
  const reports: ScaleReport[] = [];
  for (const [what, spec] of Object.entries(shapes)) {
    const id = await publishAssembly(installation, place, spec);
    reports.push({ what, ...(await runOnce(installation, id, place.environmentId, nodes)) });
  }
  return reports;
}

/** Starts `count` runs of an assembly at once, each in its own environment. */
export async function runManyAtOnce(installation: Installation, count: number): Promise<ScaleReport> {
  const place = await makePlace(installation);
  const { slug } = await publishTemplate(installation, place);
  const nodes = 3;
  const id = await publishAssembly(installation, place, chainOf(slug, nodes));
  const environments = await Promise.all(
    Array.from({ length: count }, () =>
      installation.requester.call('POST', '/environments', {
        name: `E ${randomUUID()}`,
        kind: 'development',
        project_id: place.projectId,
      }),
    ),
  );
  const startedAt = Date.now();
  const runs = await Promise.all(environments.map((each) => runOnce(installation, id, String(each.id), nodes)));
  const events = Math.max(...runs.map(({ longestHistory: { events: each } }) => each));
  const bytes = Math.max(...runs.map(({ longestHistory: { bytes: each } }) => each));
  return {
    what: `${count} runs of ${nodes} nodes at once`,
    seconds: Math.round((Date.now() - startedAt) / 1000),
    longestHistory: { events, bytes },
  };
}

async function runOnce(installation: Installation, assemblyId: string, environmentId: string, nodes: number) {
  const startedAt = Date.now();
  const started = await installation.requester.sendWithRetries(
    'POST',
    `/assemblies/${assemblyId}/runs`,
    { environment_id: environmentId },
    { 'idempotency-key': randomUUID() },
  );
  const run = await awaitEnd(installation, `/assemblies/${assemblyId}/runs/${started.body?.id}`);
  if (run.status !== 'succeeded')
    installation.violations.push(`an assembly run ended ${run.status} (${run.status_reason})`);
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  await checkNodes(installation, String(run.id), nodes);
  return { seconds, longestHistory: await longestHistory(installation, String(run.id)) };
}
