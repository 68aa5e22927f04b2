import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import type { EngineMessage, OutboxMessage } from '#domain/shared/events/outbox.ts';

/** Every workflow but those of pools runs here. */
export const coordinatorQueue = 'coordinator';

/** Names the installation in every workflow, so that a workflow of the same id that is not ours is never taken for it. */
export const installationMemo = 'installation_id';

/** A workflow of this id exists, and it is another installation's or another input's. */
export class ForeignWorkflow extends Error {
  constructor(workflowId: string) {
    super(`a workflow with the id ${workflowId} exists that this installation did not start`);
    this.name = 'ForeignWorkflow';
  }
}

/** An engine that takes calls and does not answer is as good as away. */
const answerWithinMs = 4_000;

export type DeliveryOutcome = 'delivered' | 'gone';

/**
 * Tells the engine one message. Repeating it is harmless: a start names its workflow, and signals are hints.
 * `gone`: the workflow has ended, and there is nobody to tell.
 */
export async function deliverMessage(
  client: Client,
  installationId: string,
  message: OutboxMessage,
): Promise<DeliveryOutcome> {
  const { target, payload } = message;
  try {
    await client.withDeadline(Date.now() + answerWithinMs, () =>
      deliverPayload(client, installationId, target, payload),
    );
    return 'delivered';
  } catch (error) {
    if (payload.kind !== 'start' && error instanceof WorkflowNotFoundError) return 'gone';
    throw error;
  }
}

function deliverPayload(
  client: Client,
  installationId: string,
  target: string,
  payload: EngineMessage,
): Promise<unknown> {
  switch (payload.kind) {
    case 'start':
      return startOnce(client, installationId, target, payload);
    case 'signal':
      return client.workflow.getHandle(target).signal(payload.signal);
    case 'cancel':
      return client.workflow.getHandle(target).cancel();
  }
}

async function startOnce(
  client: Client,
  installationId: string,
  workflowId: string,
  { workflow, input }: Extract<EngineMessage, { kind: 'start' }>,
): Promise<void> {
  try {
    await client.workflow.start(workflow, {
      workflowId,
      taskQueue: coordinatorQueue,
      args: [input],
      memo: { [installationMemo]: installationId, ...input },
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      workflowIdConflictPolicy: 'FAIL',
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    await refuseForeign(client, installationId, workflowId, input);
  }
}

/** Started before: by us, where installation and input are the same, and then this message has been delivered. */
async function refuseForeign(
  client: Client,
  installationId: string,
  workflowId: string,
  input: Record<string, string>,
): Promise<void> {
  const { memo } = await client.workflow.getHandle(workflowId).describe();
  const expected = Object.entries({ [installationMemo]: installationId, ...input });
  if (!expected.every(([name, value]) => memo?.[name] === value)) throw new ForeignWorkflow(workflowId);
}

/** Whether a workflow that was started is definitely no more: unknown to the engine, or ended. */
export async function isWorkflowGone(client: Client, workflowId: string): Promise<boolean> {
  try {
    const { status } = await client.withDeadline(Date.now() + answerWithinMs, () =>
      client.workflow.getHandle(workflowId).describe(),
    );
    return endedStatuses.has(status.name);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return true;
    throw error;
  }
}

const endedStatuses = new Set(['COMPLETED', 'FAILED', 'CANCELLED', 'TERMINATED', 'TIMED_OUT']);
