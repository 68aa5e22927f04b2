import { z } from 'zod';
import { logStreams } from '#domain/shared/vocabulary/runs.ts';
import { WireRequest } from './request-schema.ts';
import { WireResult } from './result-schema.ts';
import { count, digest, MaskedAddresses, type Message, Phase, positive, text } from './value-schemas.ts';

/**
 * The messages between a worker and its executor host. They cross one pipe as frames (`frames.ts`), each a JSON message with
 * an optional body of bytes. Both ends parse every message by these schemas, and close the pipe on one that does not fit.
 * Template code never speaks on this pipe, so such a message means a defect or a sandbox escape.
 */

/** Identifies an attempt within one host. */
const attempt = positive;

/** Worker → host. The body of `execute` is the state followed by the artifact and the modules. */
export const WorkerMessage = z.discriminatedUnion('type', [
  z.object({ type: z.literal('start'), settings: z.unknown() }),
  z.object({
    type: z.literal('execute'),
    attempt,
    request: WireRequest,
    stateBytes: count.nullable(),
    artifactBytes: count.nullable(),
    /** The number of bytes of the modules' files. */
    modulesBytes: count.nullish(),
  }),
  z.object({ type: z.literal('cancel'), attempt }),
  z.object({ type: z.literal('ack'), attempt, of: z.enum(['log', 'state']), id: positive, ok: z.boolean() }),
]);
export type WorkerMessage = Message<z.output<typeof WorkerMessage>>;

/** A piece of log without its secrets. Its bytes are in the body. */
const LogMessage = z.object({
  type: z.literal('log'),
  attempt,
  /** Numbers the attempt's chunks from 1, without gaps. */
  sequence: positive,
  phase: Phase,
  stream: z.enum(logStreams),
  /** When its first byte was read (RFC 3339). */
  time: z.iso.datetime(),
  /** Line feeds in the attempt's log before this chunk. */
  firstLine: count,
  /** Line feeds in this chunk. */
  lines: count,
  /** `sha256:…` of the content. */
  checksum: digest,
});
export type LogMessage = Readonly<z.output<typeof LogMessage>>;

/** A state that the tool wrote, which is in the body. */
const StateMessage = z.object({
  type: z.literal('state'),
  attempt,
  /** Numbers the attempt's writes from 1. */
  write: positive,
  serial: count.nullable(),
  lineage: z.string().max(1024).nullable(),
  resourceCount: count,
  /** The redacted addresses of its resources that contain secrets. */
  maskedAddresses: MaskedAddresses.optional(),
  /** The outputs that are secret because of the tool, the template or their content. */
  secretOutputs: z.array(text).optional(),
});
export type StateMessage = Readonly<z.output<typeof StateMessage>>;

/** What the host did with its store of providers since it started. */
const ProviderCounts = z.object({
  /** Packages that an initialization took from the store. */
  hits: count,
  /** Packages that were fetched, checked and added. */
  fetches: count,
  evictions: count,
  /** The size of the store. */
  bytes: count,
});
export type ProviderCounts = Readonly<z.output<typeof ProviderCounts>>;

/**
 * Host → worker. The worker acknowledges `log` by its sequence and `state` by its write. The body of `result` is the artifact, followed by
 * the debug log and the modules.
 */
export const HostMessage = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('ready'),
    isolation: z.enum(['sandbox', 'none']),
    /** Why template code is not sandboxed; null if it is. */
    reason: text.nullable(),
    /** How many directories of killed hosts this host removed. */
    swept: count,
  }),
  LogMessage,
  StateMessage,
  z.object({ type: z.literal('providers'), counts: ProviderCounts }),
  z.object({
    type: z.literal('result'),
    attempt,
    result: WireResult,
    artifactBytes: count.nullable(),
    debugBytes: count.nullish(),
    modulesBytes: count.nullish(),
  }),
]);
export type HostMessage = z.output<typeof HostMessage>;
