import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, NativeConnection, Worker } from '@temporalio/worker';
import { createBareActivities } from './activities.ts';

/**
 * Runs a worker of bare workflows in its own process, as the service's worker runs in one.
 * Arguments: Temporal's address, the namespace, the number of slots, the work directory.
 */
const [address = '', namespace = '', slots = '', workRoot = ''] = process.argv.slice(2);
const quiet = () => undefined;
const workflowsPath = fileURLToPath(new URL('workflow.ts', import.meta.url));
const logger = { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: console.error, log: quiet };
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  namespace,
  taskQueue: 'bare',
  workflowBundle: await bundleWorkflowCode({ workflowsPath, logger }),
  activities: await createBareActivities(workRoot),
  maxConcurrentActivityTaskExecutions: Number(slots),
  shutdownGraceTime: '1 second',
});
process.once('disconnect', () => worker.shutdown());
process.send?.({ type: 'ready' });
await worker.run();
process.exit();
