import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { InstalledTool } from '#executors/client/tools.ts';
import { requireTools } from '../executors/support.ts';
import { runBareTool } from './bare-tool.ts';
import { compareLifecycles } from './compare.ts';
import { type Configuration, findFixtures, findModules, fixtureSources, runsWith } from './configurations.ts';
import { ConformingService, UnsuitableConfiguration } from './service.ts';

/**
 * `npm run test:conformance`: publishes, plans, applies, plans again and destroys configurations by the service and by the bare tool, and
 * compares the results. Prints a line for each and exits with 1 if any differs. `--only` chooses by a part of the name, `--tool` the tool,
 * and `--save` writes the list to a file.
 */
const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    tool: { type: 'string' },
    fixtures: { type: 'boolean', default: true },
    concurrency: { type: 'string', default: '3' },
    save: { type: 'string' },
  },
  allowNegative: true,
});

type Outcome = 'same' | 'same error' | 'differs' | 'left out';

interface Line {
  readonly name: string;
  readonly tool: string;
  readonly outcome: Outcome;
  readonly details: readonly string[];
}

const only = values.only ?? '';
const configurations = [...findModules(), ...(values.fixtures ? fixtureSources.flatMap(findFixtures) : [])].filter(
  ({ name }) => name.includes(only),
);
const tools = (await requireTools()).filter(({ name }) => values.tool === undefined || name === values.tool);
const lines: Line[] = [];
for (const tool of tools) lines.push(...(await compareAll(tool)));
report(lines);

async function compareAll(tool: InstalledTool): Promise<Line[]> {
  const service = await ConformingService.start(tool);
  const waiting = configurations.filter((configuration) => runsWith(configuration, tool));
  const found: Line[] = [];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const line = await compareOne(service, tool, next);
      found.push(line);
      console.log([line.outcome, line.tool, line.name, ...line.details].join('  '));
    }
  };
  try {
    await Promise.all(Array.from({ length: Number(values.concurrency) }, work));
  } finally {
    await service.close();
  }
  return found;
}

async function compareOne(
  service: ConformingService,
  tool: InstalledTool,
  configuration: Configuration,
): Promise<Line> {
  const directory = mkdtempSync(join(tmpdir(), 'coordinator-conformance-bare-'));
  const line = { name: configuration.name, tool: `${tool.name} ${tool.version}` };
  try {
    const bare = await runBareTool(tool.path, configuration, directory);
    const result = await service.run(configuration);
    const details = compareLifecycles(bare, result);
    if (details.length > 0) return { ...line, outcome: 'differs', details };
    return {
      ...line,
      outcome: bare.error === null ? 'same' : 'same error',
      details: bare.error === null ? [] : [bare.error],
    };
  } catch (error) {
    if (!(error instanceof UnsuitableConfiguration)) throw new Error(configuration.name, { cause: error });
    return { ...line, outcome: 'left out', details: [error.message] };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function report(all: readonly Line[]): void {
  const counts = Map.groupBy(all, ({ outcome }) => outcome);
  for (const [outcome, { length }] of counts) console.log(`${length} ${outcome}`);
  if (values.save !== undefined) {
    const text = all.map(({ outcome, tool, name, details }) => [outcome, tool, name, ...details].join('\t')).sort();
    writeFileSync(values.save, `${text.join('\n')}\n`);
  }
  process.exit(counts.has('differs') ? 1 : 0);
}
