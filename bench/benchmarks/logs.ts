import type { Orm } from '#database/database.ts';
import { appendLog } from '#domain/runs/attempts/logs.ts';
import type { LogChunk } from '#domain/runs/attempts/writes.ts';
import { openDatabase } from '#open-database';
import { type Benchmark, type Comparison, interleave } from '../benchmark.ts';
import { copyIn } from '../data/copy.ts';
import { chunkBytes, generateLogChunks, openAttempt } from '../data/log-rows.ts';
import type { Installation } from '../installation/installation.ts';
import type { Testbed } from '../installation/testbed.ts';
import { runLoad } from '../load/load.ts';
import { admitRun } from '../load/runs.ts';
import { command, createTenant, publish } from '../load/tenant.ts';
import { percentile, type Sample } from '../report/statistics.ts';

const mebibyte = 1024 * 1024;
const [small, large] = [1 * mebibyte, 100 * mebibyte];
const kept = 32 * mebibyte;
const requests = 300;
const writers = 4;

export const logs: Benchmark = {
  name: 'logs',
  about:
    `First, reading one chunk (${chunkBytes / 1024} KiB) by \`GET /runs/{id}/logs?after=…&limit=1\` at random places of a log of ` +
    `${large / mebibyte} MiB, compared with a log of ${small / mebibyte} MiB; the figures are medians. Second, storing ${kept / mebibyte} MiB of log ` +
    'by `appendLog` as the worker does: one chunk per transaction, each durable before it is acknowledged, for one attempt and ' +
    `for ${writers} attempts at once, compared with one \`COPY\` of the same bytes into a table that holds only those bytes.`,
  run: async (testbed) => {
    const installation = await testbed.open('logs');
    const orm = openDatabase(installation.config);
    try {
      const { teamId, environmentId } = await createTenant(installation.http);
      const templateId = await publish(installation.http, teamId, 'nothing', command('true'));
      const open = () => openRun(installation, { template_id: templateId, environment_id: environmentId });
      return [
        ...(await measureReading(testbed, installation, orm, open)),
        ...(await measureKeeping(testbed, installation, orm, open)),
      ];
    } finally {
      await orm.close();
      await installation.close();
    }
  },
};

type OpenRun = () => Promise<{ runId: string; attemptId: string }>;

async function openRun({ http, database }: Installation, request: object) {
  const runId = await admitRun(http, request);
  return { runId, attemptId: await openAttempt(database, runId) };
}

async function measureReading(
  testbed: Testbed,
  { http }: Installation,
  orm: Orm,
  open: OpenRun,
): Promise<Comparison[]> {
  const fill = async (bytes: number) => {
    const { runId, attemptId } = await open();
    const chunks = generateLogChunks(bytes);
    for (const chunk of chunks) await appendLog(orm.em.fork(), attemptId, chunk);
    return { runId, chunks: chunks.length };
  };
  const read = async ({ runId, chunks }: Awaited<ReturnType<typeof fill>>): Promise<Sample> => {
    const load = await runLoad(requests, 1, async () => {
      const after = Math.floor(Math.random() * chunks);
      const page = await http.call('GET', `/runs/${runId}/logs?after=${after}&limit=1`);
      if (page.entries[0]?.sequence !== after + 1) throw new Error(`chunk ${after + 1} was not read`);
    });
    return { median_ms: percentile(load.latencies, 0.5) };
  };
  const [few, many] = [await fill(small), await fill(large)];
  const [service, other] = [`${large / mebibyte} MiB`, `${small / mebibyte} MiB`];
  const figures = await interleave(testbed, { [service]: () => read(many), [other]: () => read(few) });
  return [
    {
      what: 'a chunk of a log read',
      unit: 'ms',
      target: { atMost: 1.5 },
      service: figures(service, 'median_ms'),
      other: figures(other, 'median_ms'),
    },
  ];
}

async function measureKeeping(
  testbed: Testbed,
  { database }: Installation,
  orm: Orm,
  open: OpenRun,
): Promise<Comparison[]> {
  await database.query('create table bare_log (content bytea not null)');
  const chunks = generateLogChunks(kept);
  const rate = (seconds: number): Sample => ({ mebibytes_per_second: kept / mebibyte / seconds });
  const append = async (attempts: number): Promise<Sample> => {
    const opened = await Promise.all(Array.from({ length: attempts }, open));
    const share = Math.ceil(chunks.length / attempts);
    const startedAt = performance.now();
    await Promise.all(opened.map(({ attemptId }) => appendAll(orm, attemptId, chunks.slice(0, share))));
    return rate((performance.now() - startedAt) / 1000);
  };
  const copy = async (): Promise<Sample> => {
    const startedAt = performance.now();
    await copyIn(
      database,
      'bare_log',
      chunks.map(({ content }) => content),
    );
    return rate((performance.now() - startedAt) / 1000);
  };
  const [one, several, raw] = ['one attempt', `${writers} attempts`, 'COPY'];
  const arms = { [one]: () => append(1), [several]: () => append(writers), [raw]: copy };
  const figures = await interleave(testbed, arms);
  return [one, several].map((arm) => ({
    what: `log kept, ${arm}`,
    unit: 'MiB/s',
    target: { atLeast: 0.5 },
    service: figures(arm, 'mebibytes_per_second'),
    other: figures(raw, 'mebibytes_per_second'),
  }));
}

async function appendAll(orm: Orm, attemptId: string, chunks: readonly LogChunk[]): Promise<void> {
  for (const chunk of chunks) await appendLog(orm.em.fork(), attemptId, chunk);
}
