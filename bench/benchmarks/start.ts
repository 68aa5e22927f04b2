import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Benchmark, Comparison } from '../benchmark.ts';
import type { Testbed } from '../installation/testbed.ts';
import { measureFloors } from '../resources/floors.ts';
import { startLocally } from '../resources/local-start.ts';
import { readOwnMemory } from '../resources/own-memory.ts';

/** An evaluation thread ends after a minute without work. */
const idleMs = 100_000;

export const start: Benchmark = {
  name: 'start',
  about:
    'What `./start` runs on one machine. First, the memory of each part when it idles after its sample runs, as if nothing else ran on ' +
    'the machine: a file that several parts have mapped, such as the program of Node.js, counts once. It is compared with the least ' +
    'that the part needs: a bare PostgreSQL with four connections, a bare Temporal development server, Node.js without a program for ' +
    '`start`, and for the others a process that has loaded its code and does nothing (for the worker without the native core and the ' +
    'thread of the engine). `npm start` adds npm. Then the next starts, from the command until it prints that it is ready, with the ' +
    'processor time of all its processes until then.',
  run: async (testbed) => {
    const directory = join(testbed.directory, 'start');
    const memory = await measureIdle(directory);
    const floors = await measureFloors(directory);
    return [...toMemoryRows(memory, floors), ...(await measureStarts(testbed, directory))];
  },
};

async function measureIdle(directory: string): Promise<Record<string, number>> {
  const first = await startLocally(directory);
  try {
    await sleep(idleMs);
    return readOwnMemory(first.listParts());
  } finally {
    await first.stop();
  }
}

const sumOf = (values: Readonly<Record<string, number>>) =>
  Object.values(values).reduce((sum, value) => sum + value, 0);

function toMemoryRows(
  memory: Readonly<Record<string, number>>,
  floors: Readonly<Record<string, number>>,
): Comparison[] {
  const row = (what: string, value: number, floor: number | undefined, target: Comparison['target']): Comparison => ({
    what,
    unit: 'MiB',
    service: { arm: what, values: [value] },
    other: floor === undefined ? null : { arm: 'floor', values: [floor] },
    target,
  });
  return [
    ...Object.entries(memory).map(([part, value]) => row(`idle: ${part}`, value, floors[part], null)),
    row('idle: together', sumOf(memory), undefined, { below: 600 }),
    row('idle: together, beside the floors', sumOf(memory), sumOf(floors), { atMost: 1.15 }),
  ];
}

async function measureStarts({ rounds, report }: Testbed, directory: string): Promise<Comparison[]> {
  const figures: Record<string, number[]> = {};
  for (let round = 1; round <= rounds; round += 1) {
    const next = await startLocally(directory);
    const measured = {
      'next start: PostgreSQL is ready': next.said(/PostgreSQL is ready/),
      'next start: Temporal is ready': next.said(/Temporal is ready/),
      'next start: ready': next.readyMs,
      'next start: processor time of all processes': next.readyCpuMs,
    };
    await next.stop();
    report(
      `start ${round}/${rounds}: ready after ${Math.round(next.readyMs)} ms, with ${next.readyCpuMs} ms of processor time`,
    );
    for (const [what, value] of Object.entries(measured)) figures[what] = [...(figures[what] ?? []), value];
  }
  return Object.entries(figures).map(([what, values]) => ({
    what,
    unit: 'ms',
    service: { arm: what, values },
    other: null,
    target: what.endsWith(': ready') ? { below: 2_000 } : null,
  }));
}
