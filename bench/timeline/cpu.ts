import type { Comparison } from '../benchmark.ts';
import { type Cpu, type Part, parts, readBackendCpu, readCpu } from '../resources/service-cpu.ts';
import { pause, row, type Setting } from './setting.ts';

const targets: Partial<Record<Part, number>> = { worker: 40, 'executor host': 15, 'Temporal server': 35 };

/** The processor time of each process for one run, as the mean of several without a pause. */
export async function measureCpu({ testbed, installation, run }: Setting): Promise<Comparison[]> {
  const runs = 4 * testbed.rounds;
  const read = async () => ({ cpu: readCpu(installation), backends: await readBackendCpu(installation.database) });
  await pause();
  const before = await read();
  for (let count = 0; count < runs; count += 1) await run();
  const after = await read();
  const each = (part: Part) => (after.cpu[part] - before.cpu[part]) / runs;
  const together = (cpu: Cpu) => parts.reduce((sum, part) => sum + cpu[part], 0);
  testbed.report(`${runs} runs for the processor time`);
  return [
    ...parts.map((part) => {
      const below = targets[part];
      return row(`CPU of a run: ${part}`, 'ms', [each(part)], below === undefined ? {} : { target: { below } });
    }),
    row('CPU of a run: together', 'ms', [(together(after.cpu) - together(before.cpu)) / runs]),
    row('of PostgreSQL, for the connections of the service', 'ms', [(after.backends - before.backends) / runs]),
  ];
}
