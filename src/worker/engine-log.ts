import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';

const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const;

/** Sends what the engine's SDK says into the service's log; stopping stays this program's business. Once a process. */
export function installEngineRuntime(log: Logger): void {
  Runtime.install({
    shutdownSignals: [],
    logger: new DefaultLogger('INFO', ({ level, message, meta }) => {
      // The worker of a pool executes and does nothing else, so that it has no workflows is no warning.
      const expected = message.startsWith('No workflows registered');
      log[expected ? 'debug' : levels[level]]({ engine: describe(meta) }, message);
    }),
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }), forward: {} } },
  });
}

/** Only what is known to hold no data of a run. */
function describe(meta: Record<string | symbol, unknown> | undefined) {
  const { taskQueue, workflowId, workflowType, activityType, attempt } = meta ?? {};
  const error = meta?.['error'];
  return {
    taskQueue,
    workflowId,
    workflowType,
    activityType,
    attempt,
    error: error instanceof Error ? error.message : undefined,
  };
}
