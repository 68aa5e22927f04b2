import { announceSpan } from '#domain/shared/tasks/spans.ts';
import type { Frame } from '../protocol/frames.ts';
import type { HostMessage } from '../protocol/messages.ts';
import type { ExecutionPhase, ExecutionResult, ExecutionSink } from '../protocol/request.ts';
import type { WireRequest } from '../protocol/request-schema.ts';
import type { HostProcess } from './host-process.ts';

const watchEveryMs = 1_000;
/** How long a host may take to end an attempt and clean up, in addition to the attempt's own limits. */
const cleaningMs = 30_000;

interface AttemptBytes {
  readonly state: Buffer | null;
  readonly artifact: Buffer | null;
  readonly modules?: { readonly content: Buffer | null } | null | undefined;
}

/** The host sent a message that our host never sends: it is broken, or somebody else is speaking. */
class ProtocolViolation extends Error {}

/** The worker's side of one attempt in the host, from the request to the result or the end of the host. */
export class HostedAttempt {
  readonly #host: HostProcess;
  readonly #attempt: number;
  readonly #phase: ExecutionPhase;
  readonly #sink: ExecutionSink;
  #lastLog = 0;
  #lastState = 0;
  #logs: Promise<void> = Promise.resolve();
  #states: Promise<void> = Promise.resolve();
  #waitingForSink = 0;
  /** The sink's first error; null while it has accepted everything. */
  #sinkFault: string | null = null;
  #deadline = Number.POSITIVE_INFINITY;
  #result: ExecutionResult | null = null;
  #ids: Pick<WireRequest, 'runId' | 'attemptId'> | null = null;
  readonly #finished = Promise.withResolvers<void>();

  constructor(host: HostProcess, attempt: number, phase: ExecutionPhase, sink: ExecutionSink) {
    this.#host = host;
    this.#attempt = attempt;
    this.#phase = phase;
    this.#sink = sink;
  }

  async run(
    request: WireRequest,
    { state, artifact, modules }: AttemptBytes,
    signal: AbortSignal,
  ): Promise<ExecutionResult> {
    const { channel } = this.#host;
    const attempt = this.#attempt;
    this.#ids = { runId: request.runId, attemptId: request.attemptId };
    this.#deadline = Date.now() + request.timeoutMs + request.graceMs + cleaningMs;
    const content = modules?.content ?? null;
    const sizes = {
      stateBytes: state?.length ?? null,
      artifactBytes: artifact?.length ?? null,
      modulesBytes: content?.length ?? null,
    };
    const body = Buffer.concat([state, artifact, content].filter((bytes) => bytes !== null));
    channel.send({ type: 'execute', attempt, request, ...sizes }, body);
    const cancel = () => {
      this.#deadline = Math.min(this.#deadline, Date.now() + request.graceMs + cleaningMs);
      channel.send({ type: 'cancel', attempt });
    };
    if (signal.aborted) cancel();
    else signal.addEventListener('abort', cancel, { once: true });
    const watch = setInterval(() => this.#killIfOverdue(), watchEveryMs);
    try {
      await Promise.race([this.#finished.promise, channel.closed]);
      return this.#result ?? (await this.#lost());
    } finally {
      clearInterval(watch);
      signal.removeEventListener('abort', cancel);
    }
  }

  /** Kills a host past its deadline, which fails all of its attempts. Time spent waiting for the sink does not count. */
  #killIfOverdue(): void {
    if (this.#waitingForSink > 0) this.#deadline = Math.max(this.#deadline, Date.now() + cleaningMs);
    else if (Date.now() > this.#deadline) this.#host.kill();
  }

  async #lost(): Promise<ExecutionResult> {
    this.#host.kill();
    const end = await this.#host.exited;
    const message = 'the executor process ended before the attempt';
    const broken = this.#host.channel.failure;
    const diagnostic = broken?.message ?? (this.#host.takeDiagnostic() || end);
    return { outcome: 'failed', reason: 'executor_lost', message, exitCode: null, diagnostic };
  }

  /**
   * Handles a message about this attempt. Logs and states are numbered from 1 without gaps, and only an apply may send
   * states. @throws ProtocolViolation, which closes the channel and so ends the host
   */
  receive({ message, body }: Frame<HostMessage>): void {
    switch (message.type) {
      case 'log': {
        const { type: _, attempt: __, ...chunk } = message;
        if (chunk.phase !== this.#phase) throw new ProtocolViolation(`unexpected log of the phase ${chunk.phase}`);
        this.#lastLog = expectNext('log', this.#lastLog, chunk.sequence);
        this.#logs = this.#deliver(
          this.#logs,
          () => this.#sink.log({ ...chunk, content: body }),
          'log',
          chunk.sequence,
        );
        break;
      }
      case 'state': {
        const { type: _, attempt: __, ...meta } = message;
        if (this.#phase !== 'apply') throw new ProtocolViolation(`unexpected state in the phase ${this.#phase}`);
        this.#lastState = expectNext('state', this.#lastState, meta.write);
        this.#states = this.#deliver(this.#states, () => this.#sink.state(body, meta), 'state', meta.write);
        break;
      }
      case 'result':
        this.#finish(message, body);
        break;
      default:
    }
  }

  /** Passes something to the sink after everything of its kind before it, and acknowledges it to the host. */
  async #deliver(before: Promise<void>, give: () => Promise<void>, of: 'log' | 'state', id: number): Promise<void> {
    this.#waitingForSink++;
    await before;
    const ok = await Promise.resolve()
      .then(give)
      .then(
        () => true,
        (error: unknown) => {
          this.#sinkFault ??= `could not store a ${of}: ${error instanceof Error ? error.message : String(error)}`;
          return false;
        },
      );
    this.#waitingForSink--;
    this.#host.channel.send({ type: 'ack', attempt: this.#attempt, of, id, ok });
  }

  #finish(message: Extract<HostMessage, { type: 'result' }>, body: Buffer): void {
    const { result, artifactBytes, debugBytes, modulesBytes } = message;
    if ((artifactBytes ?? 0) + (debugBytes ?? 0) + (modulesBytes ?? 0) !== body.length)
      throw new ProtocolViolation('a result whose size differs from its body');
    if (this.#phase === 'apply' && result.plan) throw new ProtocolViolation('unexpected plan from an apply');
    // Where a plan changes nothing, the apply ends with it.
    const isUnchanged = this.#phase === 'plan' && result.plan?.hasChanges === false;
    if (this.#phase !== 'apply' && !isUnchanged && result.outputs)
      throw new ProtocolViolation(`unexpected outputs in the phase ${this.#phase}`);
    const diagnostic = [this.#sinkFault, this.#host.takeDiagnostic()].filter(Boolean).join('\n');
    const artifact = body.subarray(0, artifactBytes ?? 0);
    const modulesStart = (artifactBytes ?? 0) + (debugBytes ?? 0);
    const debugLog = (debugBytes ?? null) === null ? null : body.subarray(artifactBytes ?? 0, modulesStart);
    const content = (modulesBytes ?? null) === null ? null : body.subarray(modulesStart);
    const { plan, modules, spans = [], ...rest } = result;
    for (const { call, ...span } of spans) announceSpan({ ...span, facts: { ...this.#ids, call } });
    this.#result = {
      ...rest,
      ...(plan && { plan: { ...plan, artifact } }),
      ...(modules && { modules: { ...modules, content } }),
      ...(debugLog && { debugLog }),
      ...(diagnostic && { diagnostic }),
    };
    this.#finished.resolve();
  }
}

function expectNext(what: string, last: number, next: number): number {
  if (next !== last + 1) throw new ProtocolViolation(`${what} ${next} follows ${what} ${last}`);
  return next;
}
