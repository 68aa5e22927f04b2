import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '#local/errors.ts';
import type { Benchmark, Comparison, Figure, Report, Target } from '../benchmark.ts';
import type { Installation } from '../installation/installation.ts';
import { SpanFile } from '../installation/spans.ts';
import type { Testbed } from '../installation/testbed.ts';
import { findTofu } from '../installation/tofu.ts';
import { runBareTool } from '../load/bare-tool.ts';
import { createTenant, publish } from '../load/tenant.ts';
import { momentsOf, readHistory, spansOfRuns, type TimedRun, timeRun } from '../load/timed-runs.ts';
import { toStatementTable, writeStatements } from '../report/statement-table.ts';
import { toTimeline } from '../report/timeline-table.ts';
import { listTcpPorts } from '../resources/processes.ts';
import { type Cpu, type Part, parts, readCpu, readServiceBackendCpu } from '../resources/service-cpu.ts';
import { type LoggedStatement, logStatements, measureStatements } from '../resources/statement-log.ts';

const warmUps = 3;
const timedRuns = 20;
const countedRuns = 10;
const idleSeconds = 20;
/** What a run leaves to do after its end, such as the removal of its sandboxes, belongs to no other run. */
const pauseMs = 500;

const configuration = `
resource "terraform_data" "network" { input = "10.0.0.0/16" }
output "cidr" { value = terraform_data.network.output }
`;

export const timeline: Benchmark = {
  name: 'timeline',
  about:
    'Where the time of one run goes. A run of an OpenTofu template with one `terraform_data` resource and one output, without approval, whose ' +
    `version has run before: ${timedRuns} runs one after another, each from its request until a client that waits (\`wait\`) sees its end, in turn with the ` +
    'bare calls of the tool in an empty directory. The processor time is that of as many runs without a pause. Then the statements that all ' +
    `processes of the service send to PostgreSQL, as \`log_statement = all\` logs them (\`begin\` and \`commit\` included): for ${countedRuns} runs, from the ` +
    `request to the end, and during ${idleSeconds} seconds without work.`,
  run: async (testbed) => {
    const tool = findTofu();
    if (tool === null) throw new StartError('Neither OpenTofu nor Terraform was found: put `tofu` on PATH.');
    const spans = new SpanFile(testbed.directory);
    const installation = await testbed.open('timeline', { settings: { WORKER_CONCURRENCY: '4', ...spans.settings } });
    try {
      await installation.startWorker();
      return await measure({ testbed, installation, tool, spans });
    } finally {
      await installation.close();
    }
  },
};

interface Setting {
  readonly testbed: Testbed;
  readonly installation: Installation;
  readonly tool: string;
  readonly spans: SpanFile;
}

type Run = () => Promise<TimedRun>;

async function measure(setting: Setting): Promise<Report> {
  const { installation, testbed } = setting;
  const { teamId, environmentId } = await createTenant(installation.http);
  const spec = { outputs: { cidr: {} }, executor: { kind: 'opentofu', files: { 'main.tf': configuration } } };
  const request = {
    template_id: await publish(installation.http, teamId, 'network', spec),
    environment_id: environmentId,
  };
  const run = () => timeRun(installation, request);
  for (let count = 0; count < warmUps; count += 1) await run();
  const times = await measureTimes(setting, run);
  testbed.report(`${timedRuns} runs timed`);
  const cpu = await measureCpu(setting, run);
  testbed.report(`${timedRuns} runs for the processor time`);
  const statements = await measureStatementsOf(setting, run);
  const { comparisons, tables } = statements;
  return { comparisons: [...times.comparisons, ...cpu, ...comparisons], tables: [...times.tables, ...tables] };
}

async function measureTimes({ testbed, installation, tool, spans }: Setting, run: Run): Promise<Report> {
  const bare: Record<'init' | 'plan' | 'show' | 'apply', number>[] = [];
  const runs: TimedRun[] = [];
  for (let count = 0; count < timedRuns; count += 1) {
    runs.push(await run());
    await sleep(pauseMs);
    const { directory } = testbed;
    bare.push(await runBareTool(tool, { directory, configuration }, ['init', 'plan', 'show', 'apply']));
  }
  const ofRuns = spansOfRuns(runs, spans.read());
  const histories = await Promise.all(runs.map(({ key }) => readHistory(installation.temporal, key)));
  const moments = runs.map((each, index) => momentsOf(each, ofRuns[index] ?? [], histories[index] ?? []));
  const programs = ofRuns.map((own) =>
    own.reduce((sum, { name, startedAt, endedAt }) => sum + (name === 'program' ? endedAt - startedAt : 0), 0),
  );
  const whole = runs.map(({ sentAt, seenAt }) => seenAt - sentAt);
  const bareCalls = (what: string, calls: readonly (keyof (typeof bare)[number])[]): Figure => ({
    arm: what,
    values: bare.map((took) => calls.reduce((sum, call) => sum + took[call], 0)),
  });
  const init = bareCalls('bare `init`, `plan` and `apply`', ['init', 'plan', 'apply']);
  const own = bareCalls('bare `plan`, `show` and `apply`', ['plan', 'show', 'apply']);
  return {
    comparisons: [
      row('one run, request to its end as a client that waits sees it', 'ms', whole, { atMost: 1.6 }, init),
      row('in the tool: `plan`, `show` and `apply` in their sandboxes', 'ms', programs, null, own),
      row(
        'in the service: all the rest',
        'ms',
        whole.map((value, index) => value - (programs[index] ?? 0)),
      ),
      ...(['init', 'plan', 'show', 'apply'] as const).map((call) =>
        row(`the bare tool: \`${call}\``, 'ms', bareCalls('', [call]).values),
      ),
      row(
        "events in the workflow's history",
        '',
        histories.map(({ length }) => length),
        { below: 12 },
      ),
    ],
    tables: [toTimeline(moments)],
  };
}

const cpuTargets: Partial<Record<Part, number>> = { worker: 40, 'executor host': 15, 'Temporal server': 35 };

async function measureCpu({ installation }: Setting, run: Run): Promise<Comparison[]> {
  await sleep(pauseMs);
  const read = async () => ({
    cpu: readCpu(installation),
    backends: await readServiceBackendCpu(installation.database),
  });
  const before = await read();
  for (let count = 0; count < timedRuns; count += 1) await run();
  const after = await read();
  const each = (part: (cpu: Cpu) => number) => [(part(after.cpu) - part(before.cpu)) / timedRuns];
  const rows = parts.map((part) => {
    const most = cpuTargets[part];
    return row(
      `CPU of a run: ${part}`,
      'ms',
      each((cpu) => cpu[part]),
      most === undefined ? null : { below: most },
    );
  });
  const backends = (after.backends - before.backends) / timedRuns;
  return [
    ...rows,
    row("CPU of a run: PostgreSQL's processes for the connections of the service", 'ms', [backends]),
    row(
      'CPU of a run: together',
      'ms',
      each((cpu) => parts.reduce((sum, part) => sum + cpu[part], 0)),
    ),
  ];
}

async function measureStatementsOf({ testbed, installation }: Setting, run: Run): Promise<Report> {
  const { database } = installation;
  const runs: TimedRun[] = [];
  const processes = new Map<number, string>();
  let idleFrom = 0;
  const sent = await logStatements({ database, file: testbed.databaseLog }, async () => {
    for (let count = 0; count < countedRuns; count += 1) {
      runs.push(await run());
      await sleep(pauseMs);
      for (const [port, name] of processesByPort(installation)) processes.set(port, name);
    }
    await sleep(2_000);
    idleFrom = Date.now();
    await sleep(idleSeconds * 1000);
  });
  const within = (from: number, to: number) => sent.filter(({ at }) => at >= from && at < to);
  const perRun = runs.map(({ sentAt, seenAt }) => within(sentAt, seenAt));
  const afterwards = runs.map(({ seenAt }) => within(seenAt, seenAt + pauseMs));
  const idle = within(idleFrom, idleFrom + idleSeconds * 1000);
  const path = process.env['BENCH_STATEMENTS'];
  if (path !== undefined) writeStatements(path, perRun.at(-1) ?? [], { from: runs.at(-1)?.sentAt ?? 0, processes });
  return {
    comparisons: [...runRows(perRun, afterwards), ...processRows(perRun, processes), ...idleRows(idle)],
    tables: [
      toStatementTable('The statements that a run sends most often.', perRun.flat(), {
        divisor: runs.length,
        unit: 'in a run',
      }),
      toStatementTable('The statements that the service sends most often without work.', idle, {
        divisor: idleSeconds,
        unit: 'a second',
      }),
    ],
  };
}

/** The processes of the service, by the ports of their connections. */
function processesByPort({ apiPid, workerPid }: Installation): [port: number, process: string][] {
  const pids = { API: apiPid, worker: workerPid() };
  return Object.entries(pids).flatMap(([name, pid]) => listTcpPorts(pid).map((port): [number, string] => [port, name]));
}

function runRows(perRun: readonly LoggedStatement[][], afterwards: readonly LoggedStatement[][]): Comparison[] {
  const figures = perRun.map(measureStatements);
  return [
    row(
      'statements of a run',
      '',
      figures.map(({ statements }) => statements),
      { below: 60 },
    ),
    row(
      'transactions of a run',
      '',
      figures.map(({ transactions }) => transactions),
      { below: 8 },
    ),
    row(
      'text of the statements of a run',
      'KB',
      figures.map(({ bytes }) => bytes / 1000),
    ),
    row(
      `statements in the ${pauseMs} ms after a run`,
      '',
      afterwards.map((each) => each.length),
    ),
  ];
}

function processRows(perRun: readonly LoggedStatement[][], processes: ReadonlyMap<number, string>): Comparison[] {
  return [...new Set(processes.values())].map((name) => {
    const own = perRun.map((sent) => sent.filter(({ port }) => processes.get(port ?? 0) === name).length);
    return row(`statements of a run: ${name}`, '', own);
  });
}

function idleRows(idle: readonly LoggedStatement[]): Comparison[] {
  const { statements, transactions } = measureStatements(idle);
  return [
    row('statements without work', '/s', [statements / idleSeconds], { below: 2 }),
    row('transactions without work', '/s', [transactions / idleSeconds]),
  ];
}

function row(
  what: string,
  unit: string,
  values: readonly number[],
  target: Target | null = null,
  other: Figure | null = null,
): Comparison {
  return { what, unit, target, other, service: { arm: 'service', values } };
}
