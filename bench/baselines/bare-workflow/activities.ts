import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Executor } from '#executors/client/executor.ts';
import type { ExecutionRequest, ExecutionSink } from '#executors/protocol/request.ts';

/** What does the work: the service's own executor, or a plain process. */
export type BareKind = 'executor' | 'true';

export interface BarePhase {
  readonly kind: BareKind;
  readonly phase: 'plan' | 'apply';
  /** The result of the plan, as text, since it goes through Temporal. */
  readonly planned: { readonly artifact: string; readonly digest: string } | null;
}

export interface BareActivities {
  runPhase(phase: BarePhase): Promise<BarePhase['planned']>;
  doNothing(): Promise<void>;
}

const sink: ExecutionSink = { log: async () => undefined, state: async () => undefined };

export async function createBareActivities(directory: string): Promise<BareActivities> {
  const executor = await Executor.start({
    directory,
    isolation: 'sandbox',
    user: null,
    cores: 1,
    addedPaths: [],
    hiddenPaths: [],
    toolsDirectory: null,
    providerMirror: null,
    providerNetworkMirror: null,
    providersDirect: false,
    deniedAddresses: [],
  });
  return {
    doNothing: async () => undefined,
    runPhase: async (phase) => {
      if (phase.kind === 'true') return runTrue();
      const result = await executor.execute(toRequest(phase), sink, new AbortController().signal);
      if (result.outcome !== 'succeeded')
        throw new Error(`the executor failed with ${result.reason}: ${result.message}`);
      return result.plan ? { artifact: result.plan.artifact.toString('base64'), digest: result.plan.digest } : null;
    },
  };
}

async function runTrue(): Promise<null> {
  const [code] = await once(spawn('true', { stdio: 'ignore' }), 'exit');
  if (code !== 0) throw new Error(`true exited with ${code}`);
  return null;
}

function toRequest({ phase, planned }: BarePhase): ExecutionRequest {
  const mebibyte = 1024 * 1024;
  return {
    attemptId: randomUUID(),
    runId: randomUUID(),
    templateVersion: 'bare',
    phase,
    operation: 'apply',
    replace: [],
    executor: { kind: 'command', apply: [{ name: 'work', run: ['true'] }] },
    variables: {},
    sensitiveVariables: [],
    environment: [],
    outputs: {},
    state: null,
    tool: null,
    artifact: planned && Buffer.from(planned.artifact, 'base64'),
    planDigest: planned?.digest ?? null,
    timeoutMs: 60_000,
    graceMs: 10_000,
    egress: { policy: 'none', allow: [] },
    limits: {
      outputBytes: mebibyte,
      directoryBytes: 16 * mebibyte,
      processes: 64,
      memoryBytes: 512 * mebibyte,
      openFiles: 1024,
      cpuSeconds: 60,
    },
  };
}
