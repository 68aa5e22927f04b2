import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { requireTools } from '../executors/support.ts';
import { findFixtures, findModules, fixtureSources, runsWith } from './configurations.ts';
import { compareOne, type Line } from './outcomes.ts';
import { ConformingService } from './service.ts';
import { startService } from './start.ts';

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

const only = values.only ?? '';
const configurations = [...findModules(), ...(values.fixtures ? fixtureSources.flatMap(findFixtures) : [])].filter(
  ({ name }) => name.includes(only),
);
const tools = (await requireTools()).filter(({ name }) => values.tool === undefined || name === values.tool);
const started = await startService(tools);
try {
  report(await compareAll(new ConformingService(started.caller)));
} finally {
  await started.close();
}

async function compareAll(service: ConformingService): Promise<Line[]> {
  const waiting = configurations.flatMap((configuration) =>
    tools.filter((tool) => runsWith(configuration, tool)).map((tool) => ({ tool, configuration })),
  );
  const found: Line[] = [];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const line = await compareOne(service, next.tool, next.configuration);
      found.push(line);
      console.log([line.outcome, line.tool, line.name, ...line.details].join('  '));
    }
  };
  await Promise.all(Array.from({ length: Number(values.concurrency) }, work));
  return found;
}

function report(all: readonly Line[]): void {
  const counts = Map.groupBy(all, ({ outcome }) => outcome);
  for (const [outcome, { length }] of counts) console.log(`${length} ${outcome}`);
  if (values.save !== undefined) {
    const text = all.map(({ outcome, tool, name, details }) => [outcome, tool, name, ...details].join('\t')).sort();
    writeFileSync(values.save, `${text.join('\n')}\n`);
  }
  process.exitCode = counts.has('differs') ? 1 : 0;
}
