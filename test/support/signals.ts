import type { SignalSource } from '#domain/shared/events/topics.ts';

/** Signals within one process. */
export class LocalSignals implements SignalSource {
  readonly #listeners = new Map<() => void, ReadonlySet<string>>();

  signal(topics: Iterable<string>): void {
    this.signalHere(topics);
  }

  signalHere(topics: Iterable<string>): void {
    const signalled = [...topics];
    for (const [listener, heard] of this.#listeners) if (signalled.some((topic) => heard.has(topic))) listener();
  }

  on(topics: readonly string[], listener: () => void): () => void {
    this.#listeners.set(listener, new Set(topics));
    return () => this.#listeners.delete(listener);
  }
}

/** Signals of a process without a due watch: every listener hears its topics all the time. */
export const eagerSignals: SignalSource = {
  signal: () => undefined,
  signalHere: () => undefined,
  on: (_topics, listener) => {
    const timer = setInterval(listener, 50);
    return () => clearInterval(timer);
  },
};
