import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Installation } from './installation.ts';
import { LogReader } from './log-reader.ts';
import type { Random } from './random.ts';
import type { Kind } from './templates.ts';

/** A run that was asked for. Its key is its mark, too. */
export interface Admission {
  readonly key: string;
  readonly kind: Kind;
  readonly body: object;
  /** From the first 202; undefined until then. */
  runId?: string;
}

/**
 * Asks for runs, reads their logs as they come, and decides on what waits for approval, as long as it is running. What it
 * was answered is what the installation is held to afterwards.
 */
export class Load {
  readonly admissions: Admission[] = [];
  /** Keys of runs that no blow excuses. */
  readonly mustSucceed = new Set<string>();
  readonly logs: LogReader;
  readonly #installation: Installation;
  readonly #kinds: readonly Kind[];
  readonly #random: Random;
  #isOver = false;
  #admitting: Promise<unknown> = Promise.resolve();
  #watching: Promise<unknown> = Promise.resolve();

  constructor(installation: Installation, kinds: readonly Kind[], random: Random) {
    this.#installation = installation;
    this.#kinds = kinds;
    this.#random = random;
    this.logs = new LogReader(installation.requester, installation.faults);
  }

  /** Asks for so many runs, spread over a time, and goes on reading and approving until `end`. */
  start(runs: number, withinMs: number): void {
    this.#isOver = false;
    this.#admitting = this.#admitAll(runs, withinMs);
    this.#watching = Promise.all([this.#approveAll(), this.#readAll()]);
  }

  /** Resolves once every run that was asked for is answered. */
  async admitted(): Promise<void> {
    await this.#admitting;
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#watching;
  }

  /** Approves what waits now; what comes to wait later is for the next call. */
  async approveWaiting(): Promise<void> {
    const { approver, faults } = this.#installation;
    const listed = await approver.try('GET', '/runs?status=pending_approval&limit=100');
    for (const run of listed?.body?.runs ?? []) {
      const review = { decision: 'approve', plan_digest: run.plan?.digest };
      const answer = await approver.try('POST', `/runs/${run.id}/approval/review`, review);
      if (answer && ![200, 409, 503].includes(answer.status))
        faults.push(`the approval of ${run.id} was answered ${answer.status}: ${answer.text}`);
    }
  }

  /** Asks for a run until it is answered, always under the same key, as the documentation tells clients to. */
  async admit(kind: Kind): Promise<Admission> {
    const key = randomUUID();
    const instance = `${kind.name}-${this.#random.whole(1, kind.instances)}`;
    const admission: Admission = {
      key,
      kind,
      body: { template_id: kind.templateId, instance, variables: { mark: key } },
    };
    this.admissions.push(admission);
    await this.#ask(admission);
    return admission;
  }

  async #ask(admission: Admission): Promise<void> {
    const { requester, faults } = this.#installation;
    const answer = await requester.insist('POST', '/runs', admission.body, { 'idempotency-key': admission.key });
    if (answer.status === 202) admission.runId = answer.body.id;
    else faults.push(`the admission ${admission.key} was answered ${answer.status}: ${answer.text}`);
  }

  async #admitAll(runs: number, withinMs: number): Promise<void> {
    const weighed = this.#kinds.flatMap((kind) => Array.from({ length: kind.weight }, () => kind));
    const plan = Array.from({ length: runs }, () => ({
      kind: this.#random.pick(weighed),
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
