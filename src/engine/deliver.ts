import { isDeepStrictEqual } from 'node:util';
import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import type { EngineMessage, OutboxMessage } from '#domain/shared/events/outbox.ts';
import { ForeignWorkflow, installationMemo } from './installation-memo.ts';
import { coordinatorQueue } from './queues.ts';
import { deleteSchedule, upsertSchedule } from './schedules.ts';

/** An engine that has not answered after this long counts as unreachable. */
const answerWithinMs = 4_000;

export type DeliveryOutcome = 'delivered' | 'gone';

/**
 * Delivers one message to the engine. Repeating it is harmless: a start names its workflow, and a signal only makes the workflow
 * read the database again. `gone`: the workflow has ended, so the message has no recipient.
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
    case 'schedule_upsert':
      return upsertSchedule({ client, installationId }, target, payload.schedule);
    case 'schedule_delete':
      return deleteSchedule({ client, installationId }, target);
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

/**
 * Checks a workflow that already exists. If it has our installation and our input, an earlier delivery of this message started it.
 * Otherwise, the message is refused.
 */
async function refuseForeign(
  client: Client,
  installationId: string,
  workflowId: string,
  input: Extract<EngineMessage, { kind: 'start' }>['input'],
): Promise<void> {
  const { memo } = await client.workflow.getHandle(workflowId).describe();
  const expected = Object.entries({ [installationMemo]: installationId, ...input });
  if (!expected.every(([name, value]) => isDeepStrictEqual(memo?.[name], value))) throw new ForeignWorkflow(workflowId);
}

/** Whether a started workflow is definitely gone: the engine does not know it, or it has ended. */
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
