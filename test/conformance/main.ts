import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { requireTools } from '../executors/support.ts';
import { findFixtures, findModules, fixtureSources, runsWith } from './configurations.ts';
import { OutcomeList } from './list.ts';
import { type Comparison, compareOne, type Line } from './outcomes.ts';
import { preparePublic } from './public/prepare.ts';
import { ConformingService } from './service.ts';
import { startService } from './start.ts';

/**
 * `npm run test:conformance`: publishes, plans, applies, plans again and destroys configurations by the service and by the bare tool, and
 * compares the results. Prints a line for each and exits with 1 if any differs. docs/conformance.md describes the options.
 */
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    tool: { type: 'string' },
    modules: { type: 'boolean', default: true },
    fixtures: { type: 'boolean', default: true },
    public: { type: 'boolean', default: false },
    'public-from': { type: 'string', default: 'https://github.com/{name}.git' },
    concurrency: { type: 'string', default: '3' },
    save: { type: 'string' },
    resume: { type: 'boolean', default: false },
  },
  allowNegative: true,
});

const directory = mkdtempSync(join(tmpdir(), 'coordinator-conformance-files-'));
// The executor's sandboxes read the mirror as another user.
chmodSync(directory, 0o755);
const mirror = join(directory, 'mirror');
const repositories = join(directory, 'repositories');
const configurations = [
  ...(values.modules ? findModules() : []),
  ...(values.fixtures ? fixtureSources.flatMap(findFixtures) : []),
  ...preparePublic({ isWanted: values.public, from: values['public-from'], only: values.only, mirror, repositories }),
].filter(({ name }) => name.includes(values.only));
const tools = (await requireTools()).filter(({ name }) => values.tool === undefined || name === values.tool);
const list = new OutcomeList(values.save ?? null, values.resume);
const started = await startService(tools, { mirror, repositories });
// An interruption ends it after what is being compared; `--resume` goes on.
const stopped = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.abort());
try {
  await compareAll({ service: new ConformingService(started.caller), mirror });
  report(list.finish());
} finally {
  await started.close();
  rmSync(directory, { recursive: true, force: true });
}

async function compareAll(comparison: Comparison): Promise<void> {
  const waiting = configurations.flatMap((configuration) =>
    tools
      .filter((tool) => runsWith(configuration, tool) && !list.has(configuration.name, `${tool.name} ${tool.version}`))
      .map((tool) => ({ tool, configuration })),
  );
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined && !stopped.signal.aborted; next = waiting.shift()) {
      const line = await compareOne(comparison, next.tool, next.configuration);
      list.add(line);
      console.log([line.outcome, line.tool, line.name, ...line.details].join('  '));
    }
  };
  await Promise.all(Array.from({ length: Number(values.concurrency) }, work));
}

function report(all: readonly Line[]): void {
  const counts = Map.groupBy(all, ({ outcome }) => outcome);
  for (const [outcome, { length }] of counts) console.log(`${length} ${outcome}`);
  process.exitCode = counts.has('differs') ? 1 : 0;
}
