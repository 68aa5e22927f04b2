import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadConfig } from '#config';
import type { Orm } from '#database/database.ts';
import { admitScan } from '#domain/runs/admission/scans/scan.ts';
import { systemPrincipal } from '#domain/shared/access/principal.ts';
import { Transactions } from '#domain/shared/commands/transaction.ts';
import { KeyRing } from '#domain/shared/secrets.ts';
import { openDatabase } from '#open-database';
import { readUntil } from '#test/support/read-until.ts';
import type { Installation } from './installation.ts';

const retryForMs = 90_000;

/** Publishes a template that looks for a while and finds nothing, and deploys instances by it. Returns their names and ids. */
export async function deployInstances(
  { requester }: Installation,
  { count, lookSeconds }: { count: number; lookSeconds: number },
) {
  const slug = `scanned-${randomUUID()}`;
  const { id: templateId } = await requester.call('POST', '/registry/templates', { name: slug, slug });
  const step = (script: string) => [{ name: 'act', run: ['sh', '-c', script] }];
  const look = `sleep ${lookSeconds}; echo '[]' > plan.json; echo '{"by":"a scan"}' > state.json`;
  const spec = { executor: { kind: 'command', apply: step('true'), detect: step(look) } };
  await requester.call('POST', `/registry/templates/${templateId}/versions`, { version: '1.0.0', spec });
  const names = Array.from({ length: count }, (_, index) => `${slug}-${index}`);
  const runs = await Promise.all(
    names.map((instance) => requester.call('POST', '/runs', { template_id: templateId, instance })),
  );
  for (const { id } of runs) await awaitEnd({ requester }, id);
  return runs.map(({ instance, instance_id: id }) => ({ templateId: String(templateId), instance, id: String(id) }));
}

export async function awaitEnd({ requester }: Pick<Installation, 'requester'>, id: string) {
  const read = () => requester.call('GET', `/runs/${id}`);
  const run = await readUntil(read, ({ finished_at }) => finished_at !== null, 180_000);
  if (run.finished_at === null) throw new Error(`the run ${id} has not ended: ${JSON.stringify(run)}`);
  return run;
}

/** Admits scans as the service does, also while the database is down for a moment. */
export class Scanner {
  readonly #orm: Orm;
  readonly #transactions: Transactions;
  readonly #keyRing: KeyRing;
  /** The key of each scan. */
  readonly keys: string[] = [];

  constructor({ environment }: Installation) {
    const config = loadConfig(environment);
    this.#orm = openDatabase({ databaseUrl: config.databaseUrl, databasePoolSize: 2 });
    // The workers' sweepers start the workflows.
    this.#transactions = new Transactions(this.#orm, { dispatch: () => undefined });
    this.#keyRing = new KeyRing(config.secretKeys);
  }

  async scan(instanceId: string): Promise<void> {
    const key = randomUUID();
    this.keys.push(key);
    for (const deadline = Date.now() + retryForMs; ; await sleep(300)) {
      try {
        if (!(await this.#isAdmitted(key))) await this.#admit(key, instanceId);
        return;
      } catch (error) {
        if (Date.now() > deadline) throw error;
      }
    }
  }

  async close(): Promise<void> {
    await this.#orm.close(true);
  }

  async #isAdmitted(key: string): Promise<boolean> {
    const rows = await this.#orm.em.fork().execute<object[]>('select 1 from runs where idempotency_key = ?', [key]);
    return rows.length > 0;
  }

  async #admit(key: string, instanceId: string): Promise<void> {
    const request = { key, instanceId, requester: systemPrincipal('drift monitor') };
    await this.#transactions.run((tx) => admitScan(tx, { keyRing: this.#keyRing }, request));
  }
}
