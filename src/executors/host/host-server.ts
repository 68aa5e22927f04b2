import { dirname } from 'node:path';
import type { Duplex } from 'node:stream';
import { removeLeftGitDirectories } from '#domain/sources/git/directories.ts';
import { Channel } from '../protocol/channel.ts';
import type { Frame } from '../protocol/frames.ts';
import { HostSettings, HostSettingsError } from '../protocol/host-settings.ts';
import { type HostMessage, WorkerMessage } from '../protocol/messages.ts';
import type { WireRequest } from '../protocol/request-schema.ts';
import { WireResult } from '../protocol/result-schema.ts';
import { reportUnexpectedError } from '../shared/errors.ts';
import { type AttemptEnd, type AttemptInput, type AttemptReporter, AttemptRunner } from './attempt-runner.ts';
import { removeOrphanedHosts } from './host-directories.ts';
import type { HostResources } from './host-resources.ts';
import { prepareHost } from './prepare-host.ts';

const exitCodes = { done: 0, abandoned: 3 } as const;
/** How long everything may take to end once the worker is gone. */
const abandonMs = 10_000;
/** Hosts of other workers may be killed and leave their directories. */
const sweepEveryMs = 30_000;
const maintainEveryMs = 60_000;

interface RunningAttempt {
  readonly runner: AttemptRunner;
  readonly saves: Map<number, (isSaved: boolean) => void>;
}

/** The host's end of the pipe, and the attempts that it runs. */
export class HostServer {
  readonly #channel: Channel<HostMessage, WorkerMessage>;
  readonly #running = new Map<number, RunningAttempt>();
  #resources: HostResources | null = null;
  #reported = '';

  constructor(pipe: Duplex) {
    this.#channel = new Channel(pipe, WorkerMessage, (frame) => this.#receive(frame));
    void this.#channel.closed.then(() => this.#abandon());
  }

  #receive({ message, body }: Frame<WorkerMessage>): void {
    switch (message.type) {
      case 'start':
        this.#start(HostSettings.parse(message.settings)).catch((error: unknown) => {
          if (error instanceof HostSettingsError) process.stderr.write(`${error.message}\n`);
          else reportUnexpectedError(error);
          process.exit(exitCodes.abandoned);
        });
        break;
      case 'execute':
        this.#execute(message, body).catch((error: unknown) => {
          reportUnexpectedError(error);
          this.#channel.destroy();
        });
        break;
      case 'cancel':
        this.#running.get(message.attempt)?.runner.stop({
          outcome: 'canceled',
          reason: 'canceled',
          urgency: 'grace',
          message: 'the attempt was canceled',
        });
        break;
      case 'ack':
        this.#acknowledge(message);
    }
  }

  async #start(settings: HostSettings): Promise<void> {
    const { resources, reason, swept } = await prepareHost(settings);
    this.#resources = resources;
    this.#channel.send({ type: 'ready', isolation: resources.launcher.isolation, reason, swept });
    const sweep = () =>
      void removeOrphanedHosts(dirname(settings.directory))
        .then(() => removeLeftGitDirectories())
        .catch(reportUnexpectedError);
    setInterval(sweep, sweepEveryMs).unref();
    const maintain = () =>
      void resources.initCache
        .maintain()
        .then(() => this.#reportProviders(resources))
        .catch(reportUnexpectedError);
    setInterval(maintain, maintainEveryMs).unref();
    maintain();
  }

  /** Reports what has happened to the store of providers since the last report. */
  #reportProviders({ initCache }: HostResources): void {
    const { counts } = initCache.providers;
    const text = JSON.stringify(counts);
    if (text === this.#reported) return;
    this.#reported = text;
    this.#channel.send({ type: 'providers', counts });
  }

  async #execute(message: Extract<WorkerMessage, { type: 'execute' }>, body: Buffer): Promise<void> {
    const { attempt, request, stateBytes, artifactBytes } = message;
    const modulesBytes = message.modulesBytes ?? null;
    if (this.#resources === null || this.#running.has(attempt))
      throw new Error('the worker sent an attempt before the settings, or one that already runs');
    const stateEnd = stateBytes ?? 0;
    const artifactEnd = stateEnd + (artifactBytes ?? 0);
    if (artifactEnd + (modulesBytes ?? 0) !== body.length) throw new Error("the request's sizes differ from its body");
    const input = {
      request,
      state: stateBytes === null ? null : body.subarray(0, stateEnd),
      artifact: artifactBytes === null ? null : body.subarray(stateEnd, artifactEnd),
      modules: modulesBytes === null ? null : body.subarray(artifactEnd),
    };
    const end = await this.#run(attempt, input, this.#resources);
    this.#reportProviders(this.#resources);
    try {
      this.#sendResult(attempt, { ...end, result: WireResult.parse(end.result) });
    } catch (error) {
      // The template's plan or outputs exceed a limit of the schema. This attempt fails, and no other.
      reportUnexpectedError(error);
      this.#sendResult(attempt, {
        result: oversizedResult(request.phase, end.result),
        artifact: null,
        debugLog: end.debugLog,
        modules: null,
      });
    }
  }

  #sendResult(attempt: number, { result, artifact, debugLog, modules }: AttemptEnd): void {
    const sizes = {
      artifactBytes: artifact?.length ?? null,
      debugBytes: debugLog?.length ?? null,
      modulesBytes: modules?.length ?? null,
    };
    const parts = [artifact, debugLog, modules].filter((part) => part !== null);
    const body = parts.length === 1 ? parts[0] : Buffer.concat(parts);
    this.#channel.send({ type: 'result' as const, attempt, result, ...sizes }, body);
  }

  async #run(attempt: number, input: AttemptInput, resources: HostResources): Promise<AttemptEnd> {
    const saves: RunningAttempt['saves'] = new Map();
    try {
      const runner = new AttemptRunner(input, resources, `attempt-${attempt}`, this.#reporter(attempt, saves));
      this.#running.set(attempt, { runner, saves });
      return await runner.run();
    } catch (error) {
      // This attempt fails. The others continue.
      reportUnexpectedError(error);
      const message = "the attempt could not be prepared; see the service's log";
      const result = { outcome: 'failed' as const, reason: 'sandbox_unavailable' as const, message, exitCode: null };
      return { result, artifact: null, debugLog: null, modules: null };
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

  #reporter(attempt: number, saves: RunningAttempt['saves']): AttemptReporter {
    return {
      sendLog: ({ content, ...chunk }) => this.#channel.send({ type: 'log', attempt, ...chunk }, content),
      saveState: (content, meta) =>
        new Promise((resolve) => {
          saves.set(meta.write, resolve);
          this.#channel.send({ type: 'state', attempt, ...meta }, content);
        }),
    };
  }

  /** Called when the worker has died or no longer needs this host. */
  async #abandon(): Promise<void> {
    if (this.#channel.failure !== null) reportUnexpectedError(this.#channel.failure);
    const deadline = Date.now() + abandonMs;
    for (const { runner, saves } of this.#running.values()) {
      runner.abandon();
      for (const resolve of saves.values()) resolve(false);
    }
    const wasBusy = this.#running.size > 0;
    while (this.#running.size > 0 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10));
    this.#resources?.remove();
    process.exit(wasBusy ? exitCodes.abandoned : exitCodes.done);
  }
}

function oversizedResult(phase: WireRequest['phase'], { exitCode, tool }: WireResult): WireResult {
  const what = phase === 'apply' ? 'outputs' : 'plan';
  const message = `the ${what} cannot be accepted: a name is too long, or the total is too large`;
  const reason = phase === 'apply' ? ('outputs_invalid' as const) : ('plan_invalid' as const);
  return { outcome: 'failed', reason, message, exitCode, ...(tool && { tool }) };
}
