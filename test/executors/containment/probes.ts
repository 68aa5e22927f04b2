import { execFile } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestRequest } from '../support.ts';
import { type WorkerOptions, WorkerProcess, workerUsers } from '../worker/worker-process.ts';

/** Something that template code may try. */
export interface Probe {
  /** Completes the sentence "a template cannot …". */
  readonly name: string;
  /** A shell script. */
  readonly script: string;
  /** Matches the output if the attempt works. It must match on this machine outside a sandbox, and must not match inside. */
  readonly works: RegExp;
  /** Must match the output inside, if no output would prove nothing. */
  readonly inside?: RegExp;
  /** Why the probe cannot run outside, on a machine that others use. Missing: it must work outside. */
  readonly notOutside?: string;
}

const begin = '<<<probe';
const end = '>>>probe';
const maxProbeSeconds = 15;

/** Joins probes to one script. Each runs in its own process group with a time limit. */
function joinProbes(probes: readonly Probe[]): string {
  const lines = probes.flatMap(({ script }, index) => [
    `echo '${begin} ${index}'`,
    `timeout -k 1 ${maxProbeSeconds} sh -c '${script.replaceAll("'", "'\\''")}' 2>&1 </dev/null | head -c 20000`,
    `echo; echo '${end} ${index}'`,
  ]);
  return [...lines, 'exit 0'].join('\n');
}

function splitAnswers(probes: readonly Probe[], text: string): string[] {
  return probes.map((_, index) => {
    const from = text.indexOf(`${begin} ${index}\n`);
    const to = text.indexOf(`${end} ${index}\n`);
    return from < 0 || to < 0 ? 'the probe did not run' : text.slice(from, to).split('\n').slice(1).join('\n').trim();
  });
}

export async function probeInside(
  worker: WorkerProcess,
  probes: readonly Probe[],
  changes: Partial<TestRequest> = {},
): Promise<string[]> {
  const { result, sink } = await worker.runScript(joinProbes(probes), { timeoutMs: 240_000, ...changes });
  if (result.outcome !== 'succeeded') throw new Error(`the probes failed: ${JSON.stringify(result)}`);
  return splitAnswers(probes, sink.text('stdout'));
}

/** Runs probes on the machine itself, as the user of these tests. */
export function probeOutside(probes: readonly Probe[]): Promise<string[]> {
  return new Promise((resolve) => {
    execFile('sh', ['-c', joinProbes(probes)], { maxBuffer: 2 ** 24 }, (_error, stdout) => {
      resolve(splitAnswers(probes, stdout));
    });
  });
}

/** Tests probes outside, and in sandboxes of workers of every user. `make` is called once the worker has started. */
export function describeProbes(
  what: string,
  names: readonly string[],
  make: (worker: WorkerProcess) => readonly Probe[],
  options: { readonly worker?: WorkerOptions; readonly request?: Partial<TestRequest> } = {},
): void {
  describe.each(workerUsers)(`${what}, with a worker that runs as $as`, ({ user = null }) => {
    let worker: WorkerProcess | undefined;
    let probes: readonly Probe[] = [];
    let inside: string[] = [];
    let outside: string[] = [];
    beforeAll(async () => {
      worker = await WorkerProcess.start({ user, ...options.worker });
      probes = make(worker);
      outside = await probeOutside(probes.map((probe) => (probe.notOutside ? { ...probe, script: 'true' } : probe)));
      inside = await probeInside(worker, probes, options.request);
    }, 300_000);
    afterAll(() => worker?.close());

    it.each(names)('a template cannot %s', (name) => {
      const index = probes.findIndex((probe) => probe.name === name);
      const { works, inside: answer, notOutside } = probes[index] as Probe;
      if (notOutside === undefined) expect(outside[index], 'outside').toMatch(works);
      expect(inside[index]).not.toBe('the probe did not run');
      expect(inside[index]).not.toMatch(works);
      if (answer) expect(inside[index]).toMatch(answer);
    });
  });
}
