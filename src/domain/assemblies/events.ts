import { z } from 'zod';
import { StatusDetailData } from '#domain/runs/events/events.ts';
import type { EventType } from '#domain/shared/events/event-type.ts';
import { terminalStatuses } from '#domain/shared/vocabulary/runs.ts';
import { assemblyOperations, assemblyRunReasons, endedNodeStatuses, nodeReasons, nodeStatuses } from './model.ts';

const by = z.string();
const node = z.string();
const runId = z.string();
const words = <Word extends string>(table: Record<Word, string>) => Object.keys(table) as [Word, ...Word[]];

/**
 * The events of assemblies and their runs. GET /assemblies/{id}/runs/{runID}/events returns the events of a run, and clients match their
 * types, so the types never change.
 */
export const assemblyEvents = {
  'assembly.published': {
    subject: 'assembly',
    summary: 'A version of an assembly was published',
    data: z.strictObject({ by, version: z.string() }),
  },
  'assembly.approval_weakened': {
    subject: 'assembly',
    summary: 'A version was published with nodes that demand less approval than in the highest version that had them',
    data: z.strictObject({ by, version: z.string(), nodes: z.array(node) }),
  },
  'assembly_run.admitted': {
    subject: 'assembly_run',
    summary: 'An assembly run was admitted',
    covers: ['assembly_run.created'],
    data: z.strictObject({ by, operation: z.enum(assemblyOperations), nodes: z.number().int() }),
  },
  'assembly_run.started': {
    subject: 'assembly_run',
    summary: 'An assembly run began to run its nodes',
    data: z.strictObject({}),
  },
  'assembly_run.node_status_changed': {
    subject: 'assembly_run',
    summary:
      'A node waits, runs or is being canceled; its starts, approvals, retries and ends have events of their own',
    data: z.strictObject({ node, run_id: runId.nullable(), status: z.enum(nodeStatuses) }),
  },
  'assembly_run.node_started': {
    subject: 'assembly_run',
    summary: 'A run of a node was admitted',
    data: z.strictObject({ node, run_id: runId, attempt: z.number().int() }),
  },
  'assembly_run.node_approval_required': {
    subject: 'assembly_run',
    summary: 'The run of a node waits for approval',
    data: z.strictObject({ node, run_id: runId }),
  },
  'assembly_run.node_approved': {
    subject: 'assembly_run',
    summary: 'The run of a node has the approvals that it waited for, and goes on',
    data: z.strictObject({ node, run_id: runId }),
  },
  'assembly_run.node_retried': {
    subject: 'assembly_run',
    summary: 'The run of a node failed, and the node will be tried again',
    data: z.strictObject({ node, run_id: runId, until: z.string() }),
  },
  'assembly_run.node_ended': {
    subject: 'assembly_run',
    summary: 'A node ended',
    data: z.strictObject({
      node,
      run_id: runId.nullable(),
      status: z.enum(endedNodeStatuses),
      reason: z.strictObject({ code: z.enum(words(nodeReasons)), message: z.string() }).nullable(),
    }),
  },
  'assembly_run.cancel_requested': {
    subject: 'assembly_run',
    summary: 'Cancellation of an assembly run was requested',
    data: z.strictObject({ by, reason: z.string().nullable() }),
  },
  'assembly_run.resumed': {
    subject: 'assembly_run',
    summary: 'An assembly run was resumed',
    data: z.strictObject({ by, nodes: z.number().int() }),
  },
  'assembly_run.finished': {
    subject: 'assembly_run',
    summary: 'An assembly run ended',
    covers: ['assembly_run.engine_lost'],
    data: z.strictObject({
      status: z.enum(terminalStatuses),
      reason: z.enum(words(assemblyRunReasons)).nullable(),
      status_detail: StatusDetailData.optional(),
    }),
  },
} as const satisfies Record<string, EventType>;
