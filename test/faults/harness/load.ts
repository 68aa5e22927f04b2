import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Installation } from './installation.ts';
import { LogReader } from './log-reader.ts';
import type { Random } from './random.ts';
import type { RunKind } from './templates.ts';

/** A run that was requested. Its key is also its mark. */
export interface Admission {
  readonly key: string;
  readonly kind: RunKind;
  readonly body: object;
  /** The id in the first response with 202; undefined until then. */
  runId?: string;
}

/**
 * Requests runs, reads their logs as they grow, and approves runs that wait for approval. The checks compare the
 * installation with the responses that it got.
 */
export class Load {
  readonly admissions: Admission[] = [];
  /** Keys of runs that must succeed despite every disruption. */
  readonly mustSucceed = new Set<string>();
  readonly logs: LogReader;
  readonly #installation: Installation;
  readonly #kinds: readonly RunKind[];
  readonly #random: Random;
  #isOver = false;
  #admitting: Promise<unknown> = Promise.resolve();
  #watching: Promise<unknown> = Promise.resolve();

  constructor(installation: Installation, kinds: readonly RunKind[], random: Random) {
    this.#installation = installation;
    this.#kinds = kinds;
    this.#random = random;
    this.logs = new LogReader(installation.requester, installation.violations);
  }

  /** Requests this many runs, spread over this time, and reads logs and approves runs until `end` is called. */
  start(runs: number, withinMs: number): void {
    this.#isOver = false;
    this.#admitting = this.#admitAll(runs, withinMs);
    this.#watching = Promise.all([this.#approveAll(), this.#readAll()]);
  }

  /** Resolves when every request for a run has been answered. */
  async admitted(): Promise<void> {
    await this.#admitting;
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#watching;
  }

  /** Approves the runs that wait for approval now. */
  async approveWaiting(): Promise<void> {
    const { approver, violations } = this.#installation;
    const listed = await approver.send('GET', '/runs?status=pending_approval&limit=100');
    for (const run of listed?.body?.runs ?? []) {
      const review = { decision: 'approve', plan_digest: run.plan?.digest };
      const answer = await approver.send('POST', `/runs/${run.id}/approval/review`, review);
      if (answer && ![200, 409, 503].includes(answer.status))
        violations.push(`the approval of run ${run.id} answered ${answer.status}: ${answer.text}`);
    }
  }

  /** Requests a run and repeats the request with the same key until it is answered, as the documentation advises. */
  async admit(kind: RunKind): Promise<Admission> {
    const key = randomUUID();
    const instance = `${kind.name}-${this.#random.whole(1, kind.instances)}`;
    const admission: Admission = {
      key,
      kind,
      body: { template_id: kind.templateId, instance, variables: { mark: key } },
    };
    this.admissions.push(admission);
    await this.#request(admission);
    return admission;
  }

  async #request(admission: Admission): Promise<void> {
    const { requester, violations } = this.#installation;
    const answer = await requester.sendWithRetries('POST', '/runs', admission.body, {
      'idempotency-key': admission.key,
    });
    if (answer.status === 202) admission.runId = answer.body.id;
    else violations.push(`the admission ${admission.key} answered ${answer.status}: ${answer.text}`);
  }

  async #admitAll(runs: number, withinMs: number): Promise<void> {
    const weighted = this.#kinds.flatMap((kind) => Array.from({ length: kind.weight }, () => kind));
    const plan = Array.from({ length: runs }, () => ({
      kind: this.#random.pick(weighted),
      afterMs: this.#random.between(0, withinMs),
    }));
    await Promise.all(plan.map(({ kind, afterMs }) => sleep(afterMs).then(() => this.admit(kind))));
  }

  async #approveAll(): Promise<void> {
    for (; !this.#isOver; await sleep(700)) await this.approveWaiting();
  }

  async #readAll(): Promise<void> {
    for (; !this.#isOver; await sleep(500)) {
      const known = this.admissions.flatMap(({ runId }) => (runId === undefined ? [] : [runId]));
      await this.logs.readSome(known);
    }
  }
}
