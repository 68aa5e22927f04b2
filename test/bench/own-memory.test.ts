import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { readOwnMemory } from '../../bench/resources/own-memory.ts';

it.runIf(process.platform === 'linux')(
  'a program that two processes run counts once, and they share it equally',
  async () => {
    const processes = [0, 1].map(() =>
      spawn(process.execPath, ['--eval', 'console.log(1); setInterval(() => {}, 1000)']),
    );
    onTestFinished(() => processes.forEach((each) => void each.kill('SIGKILL')));
    await Promise.all(processes.map(({ stdout }) => once(stdout, 'data')));
    const [one = 0, other = 0] = processes.map(({ pid }) => pid ?? 0);
    const apart = readOwnMemory({ one: [one], other: [other] });
    const { together = 0 } = readOwnMemory({ together: [one, other] });
    const { alone = 0 } = readOwnMemory({ alone: [one] });
    expect((apart['one'] ?? 0) + (apart['other'] ?? 0)).toBeCloseTo(together, -1);
    // The program of Node.js is larger than what a process has of its own.
    expect(together).toBeLessThan(1.8 * alone);
  },
);
