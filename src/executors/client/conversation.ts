import type { Frame } from '../protocol/frames.ts';
import type { HostMessage, WireRequest, WireResult } from '../protocol/messages.ts';
import type { ExecutionPhase, ExecutionResult, ExecutionSink } from '../protocol/request.ts';
import type { HostProcess } from './host-process.ts';

const watchEveryMs = 1_000;
/** How long a host may take to end everything and clean up, beyond the attempt's own times. */
const cleaningMs = 30_000;

export interface AttemptBytes {
  readonly state: Buffer | null;
  readonly artifact: Buffer | null;
}

/** The host said something that no host of ours says: somebody else speaks, or it is broken. */
class UnfitMessage extends Error {}

/** One attempt at a host, until its result or the host's end. */
export class Conversation {
  readonly #host: HostProcess;
  readonly #attempt: number;
  readonly #phase: ExecutionPhase;
  readonly #sink: ExecutionSink;
  #lastLog = 0;
  #lastState = 0;
  #logs: Promise<void> = Promise.resolve();
  #states: Promise<void> = Promise.resolve();
  #waitingForSink = 0;
  /** Why the sink refused something first; null while it takes all. */
  #sinkFault: string | null = null;
  #deadline = Number.POSITIVE_INFINITY;
  #result: ExecutionResult | null = null;
  readonly #finished = Promise.withResolvers<void>();

  constructor(host: HostProcess, attempt: number, phase: ExecutionPhase, sink: ExecutionSink) {
    this.#host = host;
    this.#attempt = attempt;
    this.#phase = phase;
    this.#sink = sink;
  }

  async run(request: WireRequest, { state, artifact }: AttemptBytes, signal: AbortSignal): Promise<ExecutionResult> {
    const { channel } = this.#host;
    const attempt = this.#attempt;
    this.#deadline = Date.now() + request.timeoutMs + request.graceMs + cleaningMs;
    const sizes = { stateBytes: state?.length ?? null, artifactBytes: artifact?.length ?? null };
    const body = Buffer.concat([state, artifact].filter((bytes) => bytes !== null));
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

  /** Time spent waiting for the sink does not count. A host past its deadline is killed, and all its attempts fail. */
  #killIfOverdue(): void {
    if (this.#waitingForSink > 0) this.#deadline = Math.max(this.#deadline, Date.now() + cleaningMs);
    else if (Date.now() > this.#deadline) this.#host.kill();
  }

  async #lost(): Promise<ExecutionResult> {
    this.#host.kill();
    const end = await this.#host.exited;
    const message = 'the executor process ended before its attempt';
    const broken = this.#host.channel.failure;
    const diagnostic = broken?.message ?? (this.#host.takeDiagnostic() || end);
    return { outcome: 'failed', reason: 'executor_lost', message, exitCode: null, diagnostic };
  }

  /**
   * Takes what the host says of this attempt. Logs and states count from 1 without gaps, and only an attempt that applies
   * has a state to give. @throws UnfitMessage, which gives the host up
   */
  receive({ message, body }: Frame<HostMessage>): void {
    switch (message.type) {
      case 'log': {
        const { type: _, attempt: __, ...chunk } = message;
        if (chunk.phase !== this.#phase) throw new UnfitMessage(`a log of the phase ${chunk.phase}`);
        this.#lastLog = follow('log', this.#lastLog, chunk.sequence);
        this.#logs = this.#hand(this.#logs, () => this.#sink.log({ ...chunk, content: body }), 'log', chunk.sequence);
        break;
      }
      case 'state': {
        const { type: _, attempt: __, ...meta } = message;
        if (this.#phase !== 'apply') throw new UnfitMessage(`a state of the phase ${this.#phase}`);
        this.#lastState = follow('state', this.#lastState, meta.write);
        this.#states = this.#hand(this.#states, () => this.#sink.state(body, meta), 'state', meta.write);
        break;
      }
      case 'progress':
        this.#sink.progress?.({ step: message.step, time: message.time });
        break;
      case 'result':
        this.#finish(message, body);
        break;
      default:
    }
  }

  /** Hands something to the sink after all of its kind before it, and tells the host how that went. */
  async #hand(before: Promise<void>, give: () => Promise<void>, of: 'log' | 'state', id: number): Promise<void> {
    this.#waitingForSink++;
    await before;
    const ok = await Promise.resolve()
      .then(give)
      .then(
        () => true,
        (error: unknown) => {
          this.#sinkFault ??= `a ${of} could not be kept: ${error instanceof Error ? error.message : String(error)}`;
          return false;
        },
      );
    this.#waitingForSink--;
    this.#host.channel.send({ type: 'ack', attempt: this.#attempt, of, id, ok });
  }

  #finish({ result, artifactBytes, unsavedBytes }: Extract<HostMessage, { type: 'result' }>, body: Buffer): void {
    if ((artifactBytes ?? 0) + (unsavedBytes ?? 0) !== body.length) throw new UnfitMessage('a result of another size');
    if (this.#phase === 'apply' && result.plan) throw new UnfitMessage('a plan of an apply');
    if (this.#phase !== 'apply' && (result.outputs || unsavedBytes !== null))
      throw new UnfitMessage(`outputs or a state of the phase ${this.#phase}`);
    const artifact = body.subarray(0, artifactBytes ?? 0);
    const unsaved = unsavedBytes === null ? null : body.subarray(artifact.length, artifact.length + unsavedBytes);
    const diagnostic = [this.#sinkFault, this.#host.takeDiagnostic()].filter(Boolean).join('\n');
    this.#result = {
      ...withPlan(result, artifact),
      ...(unsaved && { state: unsaved }),
      ...(diagnostic && { diagnostic }),
    };
    this.#finished.resolve();
  }
}

function follow(what: string, last: number, next: number): number {
  if (next !== last + 1) throw new UnfitMessage(`${what} ${next} after ${last}`);
  return next;
}

function withPlan({ plan, ...result }: WireResult, artifact: Buffer): ExecutionResult {
  return { ...result, ...(plan && { plan: { ...plan, artifact } }) } as ExecutionResult;
}
