import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandOperation } from '#api/pipeline/operation.ts';
import type { Orm } from '#database/database.ts';
import { addPerson, type Person } from '#test/support/access/people.ts';
import { requestOf } from '#test/support/api/command-requests.ts';
import { bootstrapToken } from '#test/support/api/command-setups.ts';
import { startApi } from '#test/support/api/in-process-api.ts';
import { ask, type Request } from '#test/support/api/operation-requests.ts';
import { type RowChanges, RowWatch } from '#test/support/database/row-changes.ts';
import { type Fault, type Sent, StatementFaults } from '#test/support/database/statement-faults.ts';
import { describeDifference, isEmpty, isSame, judge } from './verdict.ts';

/** A request that would succeed, and the changes that it would make. */
interface Ready {
  readonly operation: CommandOperation;
  /** A request on a tenant that is still unchanged; null if one must be prepared. */
  readonly request: Request | null;
  readonly success: RowChanges;
}

/** The result of one command with a fault. */
export interface Outcome extends Omit<Sent, 'result'> {
  /** What the command did wrong; empty: nothing. */
  readonly wrong: readonly string[];
}

/** An API whose statements can be made to fail, with a watch on its tables to judge what a failed command has changed. */
export class CommandFaults {
  readonly #api: { url: string; orm: Orm };
  readonly #watch: RowWatch;
  readonly #faults: StatementFaults;
  readonly #stop: () => Promise<void>;
  #root: Person | undefined;
  #ready: Ready | undefined;

  private constructor(
    api: { url: string; orm: Orm },
    faults: StatementFaults,
    watch: RowWatch,
    stop: () => Promise<void>,
  ) {
    this.#api = api;
    this.#faults = faults;
    this.#watch = watch;
    this.#stop = stop;
  }

  static async open(): Promise<CommandFaults> {
    const api = await startApi({
      ENABLE_ADMIN_BOOTSTRAP: 'true',
      ADMIN_BOOTSTRAP_TOKEN: bootstrapToken,
      COORDINATOR_REQUESTS_PER_PRINCIPAL: '0',
      COORDINATOR_REQUESTS_PER_ADDRESS: '0',
    });
    const { orm, config } = api.services;
    const url = await api.app.listen({ host: '127.0.0.1', port: 0 });
    const [faults, watch] = await Promise.all([StatementFaults.open(orm), RowWatch.open(config.databaseUrl)]);
    return new CommandFaults({ url, orm }, faults, watch, () => api.close());
  }

  async close(): Promise<void> {
    this.#faults.remove();
    await this.#watch.close();
    await this.#stop();
  }

  /** Sends the command without a fault. @returns how many statements it sends @throws Error if it does not succeed */
  async succeed(operation: CommandOperation): Promise<number> {
    const first = await this.#prepare(operation);
    await this.#watch.start();
    const { result, statements } = await this.#faults.during(null, () => ask(this.#api, operation, first));
    if (result.status >= 300) {
      throw new Error(
        `${operation.id} answered ${result.status} where it should succeed (${result.text}): give it a setup in test/support/api/command-setups.ts`,
      );
    }
    const success = await this.#watch.changes();
    this.#ready = { operation, success, request: null };
    return statements.length;
  }

  /** Sends the command with a fault. Call `succeed` for this operation before. */
  async fail(operation: CommandOperation, fault: Fault): Promise<Outcome> {
    const ready = this.#ready;
    if (ready?.operation !== operation) throw new Error(`call succeed for ${operation.id} first`);
    const { success } = ready;
    const request = ready.request ?? (await this.#prepare(operation));
    await this.#watch.execute('truncate rate_counts');
    await this.#watch.start();
    const { result, ...sent } = await this.#faults.during(fault, () => ask(this.#api, operation, request));
    await this.#carriedOut();
    const changes = await this.#watch.changes();
    const wrong = judge(result, changes, success, sent);
    const isChanged = !isEmpty(changes);
    if (isChanged && request.headers?.['idempotency-key'] && result.status >= 500)
      wrong.push(...(await this.#repeat(operation, request, success)));
    this.#ready = { ...ready, request: isChanged ? null : request };
    return { ...sent, wrong };
  }

  /** Repeats a command with the same key, as a client does that does not know the outcome. It must be carried out once. */
  async #repeat(operation: CommandOperation, request: Request, success: RowChanges): Promise<string[]> {
    const { status, text } = await ask(this.#api, operation, request);
    const changes = await this.#watch.changes();
    const wrong = status < 300 ? [] : [`the repetition with the same key answered ${status}: ${text}`];
    return isSame(changes, success)
      ? wrong
      : [...wrong, `the repetition made more changes: ${describeDifference(changes, success)}`];
  }

  /** Waits for what a workflow carries out, even if the request that waits for it has failed. */
  async #carriedOut(): Promise<void> {
    const sql = `select 1 from plugin_restorations where status = 'running'`;
    while ((await this.#api.orm.em.fork().execute<object[]>(sql)).length > 0) await sleep(20);
  }

  /** Prepares a new tenant for a command that will change it. */
  async #prepare(operation: CommandOperation): Promise<Request> {
    return requestOf({ ...this.#api, root: await this.#administrator() }, operation);
  }

  /** The administrator; a new one if a command has removed the previous one. */
  async #administrator(): Promise<Person> {
    if (this.#root && (await this.#root.caller.get('/auth/whoami')).status === 200) return this.#root;
    this.#root = await addPerson(this.#api, 'admin');
    return this.#root;
  }
}
