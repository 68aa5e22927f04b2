import { dirname } from 'node:path';
import type { Duplex } from 'node:stream';
import { reportUnforeseen } from '../attempt/attempt-error.ts';
import { type AttemptEnd, type AttemptInput, AttemptRunner, type AttemptWorker } from '../attempt/attempt-runner.ts';
import { Channel } from '../protocol/channel.ts';
import type { Frame } from '../protocol/frames.ts';
import { type HostMessage, type WireRequest, WireResult, WorkerMessage } from '../protocol/messages.ts';
import type { HostPlace } from './host-place.ts';
import { removeForsaken } from './leftovers.ts';
import { openPlace } from './open-place.ts';
import { HostSettings, HostSettingsError } from './settings.ts';

const exitCodes = { done: 0, abandoned: 3 } as const;
/** How long everything may take to end once the worker is gone. */
const abandonMs = 10_000;
/** Hosts of other workers may be killed and leave their directories. */
const sweepEveryMs = 30_000;

interface Running {
  readonly runner: AttemptRunner;
  readonly saves: Map<number, (isSaved: boolean) => void>;
}

/** The host's end of the pipe, and the attempts that it runs. */
export class HostServer {
  readonly #channel: Channel<HostMessage, WorkerMessage>;
  readonly #running = new Map<number, Running>();
  #place: HostPlace | null = null;

  constructor(pipe: Duplex) {
    this.#channel = new Channel(pipe, WorkerMessage, (frame) => this.#receive(frame));
    void this.#channel.closed.then(() => this.#abandon());
  }

  #receive({ message, body }: Frame<WorkerMessage>): void {
    switch (message.type) {
      case 'start':
        this.#start(HostSettings.parse(message.settings)).catch((error: unknown) => {
          if (error instanceof HostSettingsError) process.stderr.write(`${error.message}\n`);
          else reportUnforeseen(error);
          process.exit(exitCodes.abandoned);
        });
        break;
      case 'execute':
        this.#execute(message, body).catch((error: unknown) => {
          reportUnforeseen(error);
          this.#channel.destroy();
        });
        break;
      case 'cancel':
        this.#running.get(message.attempt)?.runner.stop({
          ...{ outcome: 'canceled', reason: 'canceled', urgency: 'grace' },
          message: 'the attempt was canceled',
        });
        break;
      case 'ack':
        this.#acknowledge(message);
    }
  }

  async #start(settings: HostSettings): Promise<void> {
    const { place, reason, swept } = await openPlace(settings);
    this.#place = place;
    this.#channel.send({ type: 'ready', isolation: place.enclosure.isolation, reason, swept });
    const sweep = () => void removeForsaken(dirname(settings.directory)).catch(reportUnforeseen);
    setInterval(sweep, sweepEveryMs).unref();
  }

  async #execute(message: Extract<WorkerMessage, { type: 'execute' }>, body: Buffer): Promise<void> {
    const { attempt, request, stateBytes, artifactBytes } = message;
    if (this.#place === null || this.#running.has(attempt)) throw new Error('the worker broke the order of messages');
    const stateEnd = stateBytes ?? 0;
    if (stateEnd + (artifactBytes ?? 0) !== body.length) throw new Error('the request does not fit its body');
    const input = {
      request,
      state: stateBytes === null ? null : body.subarray(0, stateEnd),
      artifact: artifactBytes === null ? null : body.subarray(stateEnd),
    };
    const end = await this.#run(attempt, input, this.#place);
    try {
      this.#sendResult(attempt, { ...end, result: WireResult.parse(end.result) });
    } catch (error) {
      // What a template put into its plan or outputs is more than the worker takes: that ends this attempt, and no other.
      reportUnforeseen(error);
      this.#sendResult(attempt, { result: tooMuch(request.phase, end.result), artifact: null, unsaved: null });
    }
  }

  #sendResult(attempt: number, { result, artifact, unsaved }: AttemptEnd): void {
    const extras = [artifact, unsaved].filter((content) => content !== null);
    const sizes = { artifactBytes: artifact?.length ?? null, unsavedBytes: unsaved?.length ?? null };
    this.#channel.send({ type: 'result', attempt, result, ...sizes }, Buffer.concat(extras));
  }

  async #run(attempt: number, input: AttemptInput, place: HostPlace): Promise<AttemptEnd> {
    const saves: Running['saves'] = new Map();
    try {
      const runner = new AttemptRunner(input, place, `attempt-${attempt}`, this.#worker(attempt, saves));
      this.#running.set(attempt, { runner, saves });
      return await runner.run();
    } catch (error) {
      // Of this attempt alone: the others go on.
      reportUnforeseen(error);
      const message = 'the place for the attempt could not be made; the log of the service says why';
      const result = { outcome: 'failed' as const, reason: 'sandbox_unavailable' as const, message, exitCode: null };
      return { result, artifact: null, unsaved: null };
    } finally {
      this.#running.delete(attempt);
    }
  }

  #acknowledge({ attempt, of, id, ok }: Extract<WorkerMessage, { type: 'ack' }>): void {
    const running = this.#running.get(attempt);
    if (running === undefined) return;
    if (of === 'state') {
      running.saves.get(id)?.(ok);
      running.saves.delete(id);
      return;
    }
    if (!ok) {
      const message = 'the log could not be saved';
      running.runner.stop({ outcome: 'failed', reason: 'logs_not_saved', message, urgency: 'grace' });
    }
    running.runner.acknowledgeLog(id);
  }

  #worker(attempt: number, saves: Running['saves']): AttemptWorker {
    return {
      sendLog: ({ content, ...chunk }) => this.#channel.send({ type: 'log', attempt, ...chunk }, content),
      sendProgress: (progress) => this.#channel.send({ type: 'progress', attempt, ...progress }),
      saveState: (content, meta) =>
        new Promise((resolve) => {
          saves.set(meta.write, resolve);
          this.#channel.send({ type: 'state', attempt, ...meta }, content);
        }),
    };
  }

  /** The worker died, or is done with this host. */
  async #abandon(): Promise<void> {
    if (this.#channel.failure !== null) reportUnforeseen(this.#channel.failure);
    const deadline = Date.now() + abandonMs;
    for (const { runner, saves } of this.#running.values()) {
      runner.abandon();
      for (const resolve of saves.values()) resolve(false);
    }
    const wasBusy = this.#running.size > 0;
    while (this.#running.size > 0 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10));
    this.#place?.remove();
    process.exit(wasBusy ? exitCodes.abandoned : exitCodes.done);
  }
}

function tooMuch(phase: WireRequest['phase'], { exitCode, tool }: WireResult): WireResult {
  const what = phase === 'apply' ? 'outputs' : 'plan';
  const message = `the ${what} cannot be taken: a name is too long, or all of it together too large`;
  const reason = phase === 'apply' ? ('outputs_invalid' as const) : ('plan_invalid' as const);
  return { outcome: 'failed', reason, message, exitCode, ...(tool && { tool }) };
}
