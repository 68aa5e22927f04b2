/** A dependency of the service. `check` resolves if it is available, and rejects otherwise. */
export type DependencyCheck = {
  name: string;
  /** Reads work without it, so the service stays ready, and reports that it is degraded. */
  isOptional?: true;
  check: () => Promise<void>;
};

export type CheckResult = { name: string; ok: boolean; duration_ms: number; error?: string };
export type ReadinessReport = {
  /** Whether the service can be used, at least in part. */
  ready: boolean;
  status: 'ready' | 'degraded' | 'not_ready';
  checked_at: string;
  checks: readonly CheckResult[];
};

export type ReadinessOptions = {
  /** Milliseconds after which a check fails. */
  timeout?: number;
  /** Milliseconds for which a report is reused, so that frequent probes do not load the dependencies. */
  cacheFor?: number;
};

/** Checks all dependencies in parallel, at most once a second regardless of the number of probes. */
export class Readiness {
  readonly #checks: readonly DependencyCheck[];
  readonly #timeout: number;
  readonly #cacheFor: number;
  #report: Promise<ReadinessReport> | undefined;
  #freshUntil = 0;

  constructor(checks: readonly DependencyCheck[], options: ReadinessOptions = {}) {
    this.#checks = checks;
    this.#timeout = options.timeout ?? 2_000;
    this.#cacheFor = options.cacheFor ?? 1_000;
  }

  /** Returns the current report. Never rejects: a check that fails makes the report not ready. */
  read(): Promise<ReadinessReport> {
    if (this.#report && performance.now() < this.#freshUntil) return this.#report;
    this.#freshUntil = Number.POSITIVE_INFINITY;
    this.#report = this.#check().finally(() => {
      this.#freshUntil = performance.now() + this.#cacheFor;
    });
    return this.#report;
  }

  async #check(): Promise<ReadinessReport> {
    const checks = await Promise.all(this.#checks.map((each) => this.#run(each)));
    const failed = this.#checks.filter((_, index) => !checks[index]?.ok);
    const status = failed.length === 0 ? 'ready' : failed.every((each) => each.isOptional) ? 'degraded' : 'not_ready';
    return { ready: status !== 'not_ready', status, checked_at: new Date().toISOString(), checks };
  }

  async #run({ name, check }: DependencyCheck): Promise<CheckResult> {
    const started = performance.now();
    const took = () => Math.round((performance.now() - started) * 10) / 10;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${this.#timeout} ms`)), this.#timeout);
    });
    try {
      await Promise.race([check(), late]);
      return { name, ok: true, duration_ms: took() };
    } catch (error) {
      return { name, ok: false, duration_ms: took(), error: describeError(error) };
    } finally {
      clearTimeout(timer);
    }
  }
}

/**
 * The message of an error, with passwords in URLs redacted. A failed connection may be an AggregateError without a message; then its first
 * error counts.
 */
function describeError(error: unknown): string {
  const first = error instanceof AggregateError && error.message === '' ? error.errors[0] : error;
  const text = first instanceof Error ? first.message || first.name : 'failed';
  return text.replace(/\/\/[^/@\s]*@/g, '//[redacted]@').slice(0, 500);
}
