/** One thing that the service cannot work without. `check` resolves when it is there and rejects when it is not. */
export type DependencyCheck = { name: string; check: () => Promise<void> };

export type CheckResult = { name: string; ok: boolean; duration_ms: number; error?: string };
export type ReadinessReport = { ready: boolean; checked_at: string; checks: readonly CheckResult[] };

export type ReadinessOptions = {
  /** Milliseconds after which a check counts as failed. */
  timeout?: number;
  /** Milliseconds for which a report is given again, so that probes cost the dependencies nothing. */
  cacheFor?: number;
};

/** The state of every dependency, asked at most once a second however many probes ask, all checks at once. */
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

  /** Never rejects: what cannot be known is not ready. */
  read(): Promise<ReadinessReport> {
    if (this.#report && performance.now() < this.#freshUntil) return this.#report;
    this.#freshUntil = Number.POSITIVE_INFINITY;
    this.#report = this.#ask().finally(() => {
      this.#freshUntil = performance.now() + this.#cacheFor;
    });
    return this.#report;
  }

  async #ask(): Promise<ReadinessReport> {
    const checks = await Promise.all(this.#checks.map((each) => this.#run(each)));
    return { ready: checks.every((each) => each.ok), checked_at: new Date().toISOString(), checks };
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
      return { name, ok: false, duration_ms: took(), error: describe(error) };
    } finally {
      clearTimeout(timer);
    }
  }
}

/** An AggregateError (a name with several addresses) says nothing itself. Passwords in connection URLs are cut out. */
function describe(error: unknown): string {
  const first = error instanceof AggregateError && error.message === '' ? error.errors[0] : error;
  const text = first instanceof Error ? first.message || first.name : 'failed';
  return text.replace(/\/\/[^/@\s]*@/g, '//[redacted]@').slice(0, 500);
}
