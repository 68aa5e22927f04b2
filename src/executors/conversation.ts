import type { ExecutorHost } from './executor-host.ts';
import type { Frame } from './frames.ts';
import type { ExecutorMessage, WireRequest } from './messages.ts';
import type { ExecutionResult, ExecutionSink } from './protocol.ts';

const watchEveryMs = 1_000;
/** How long an executor may take to kill everything and clean up, beyond its own times. */
const cleaningMs = 30_000;

/** One request to an executor, until its result or its end. */
export class Conversation {
  readonly #host: ExecutorHost;
  readonly #sink: ExecutionSink;
  #logs: Promise<void> = Promise.resolve();
  #states: Promise<void> = Promise.resolve();
  #waitingForSink = 0;
  #deadline = Number.POSITIVE_INFINITY;
  #artifact: Buffer = Buffer.alloc(0);
  #unsaved: Buffer | null = null;
  #result: ExecutionResult | null = null;
  readonly #finished = Promise.withResolvers<void>();
  /** Whether the executor says that nothing of the attempt is left. */
  #hasCleaned = false;

  constructor(host: ExecutorHost, sink: ExecutionSink) {
    this.#host = host;
    this.#sink = sink;
  }

  async run(
    request: WireRequest,
    extras: { state: Buffer | null; artifact: Buffer | null },
    signal: AbortSignal,
  ): Promise<{ result: ExecutionResult; hasCleaned: boolean }> {
    const { channel } = this.#host;
    this.#host.onMessage = (frame) => this.#receive(frame);
    this.#deadline = Date.now() + request.timeoutMs + request.graceMs + cleaningMs;
    if (extras.state !== null) channel.send({ type: 'state' }, extras.state);
    if (extras.artifact !== null) channel.send({ type: 'artifact' }, extras.artifact);
    channel.send({ type: 'request', request });
    const cancel = () => {
      this.#deadline = Math.min(this.#deadline, Date.now() + request.graceMs + cleaningMs);
      channel.send({ type: 'cancel' });
    };
    if (signal.aborted) cancel();
    else signal.addEventListener('abort', cancel, { once: true });
    const watch = setInterval(() => this.#killIfOverdue(), watchEveryMs);
    try {
      await Promise.race([this.#finished.promise, channel.closed]);
      const result = this.#result ?? (await this.#lost());
      return { result, hasCleaned: this.#hasCleaned };
    } finally {
      this.#host.onMessage = () => undefined;
      clearInterval(watch);
      signal.removeEventListener('abort', cancel);
    }
  }

  /** An executor that waits for the sink is not late: the sink is. */
  #killIfOverdue(): void {
    if (this.#waitingForSink > 0) this.#deadline = Math.max(this.#deadline, Date.now() + cleaningMs);
    else if (Date.now() > this.#deadline) this.#host.kill();
  }

  async #lost(): Promise<ExecutionResult> {
    this.#host.kill();
    const code = await this.#host.exited;
    const message = 'the executor process ended before its attempt';
    const diagnostic = this.#host.diagnostic || `exit code ${code}`;
    const unsaved = this.#unsaved;
    return {
      outcome: 'failed',
      reason: 'executor_lost',
      message,
      exitCode: null,
      diagnostic,
      ...(unsaved && { state: unsaved }),
    };
  }

  #receive({ message, body }: Frame<ExecutorMessage>): void {
    switch (message.type) {
      case 'log': {
        const { type: _, ...chunk } = message;
        this.#logs = this.#hand(this.#logs, () => this.#sink.log({ ...chunk, content: body }), 'log', chunk.sequence);
        break;
      }
      case 'state': {
        const { type: _, ...meta } = message;
        this.#states = this.#hand(this.#states, () => this.#sink.state(body, meta), 'state', meta.write);
        break;
      }
      case 'progress':
        this.#sink.progress?.({ step: message.step, time: message.time });
        break;
      case 'artifact':
        this.#artifact = body;
        break;
      case 'unsaved':
        this.#unsaved = body;
        break;
      case 'result':
        this.#hasCleaned = message.hasCleaned;
        this.#finish(message.result);
    }
  }

  /** Hands something to the sink after all of its kind before it, and tells the executor how that went. */
  async #hand(before: Promise<void>, give: () => Promise<void>, of: 'log' | 'state', id: number): Promise<void> {
    this.#waitingForSink++;
    await before;
    const ok = await Promise.resolve()
      .then(give)
      .then(
        () => true,
        () => false,
      );
    this.#waitingForSink--;
    this.#host.channel.send({ type: 'ack', of, id, ok });
  }

  #finish({ plan, ...result }: Extract<ExecutorMessage, { type: 'result' }>['result']): void {
    const { diagnostic } = this.#host;
    this.#result = {
      ...result,
      ...(plan && { plan: { ...plan, artifact: this.#artifact } }),
      ...(this.#unsaved && { state: this.#unsaved }),
      ...(diagnostic && { diagnostic }),
    };
    this.#finished.resolve();
  }
}
