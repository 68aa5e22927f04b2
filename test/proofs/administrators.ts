import type { Random } from '#test/faults/harness/random.ts';
import { addPerson, addServiceAccount, type Person } from '#test/support/access/people.ts';
import type { ApiProcess } from '#test/support/api/api-process.ts';
import { type Answer, Caller } from '#test/support/api/caller.ts';
import { startApi, type TestApi } from '#test/support/api/http-api.ts';
import { startProcess } from './processes.ts';

const ways = ['demotion', 'disabling', 'deletion'] as const;
type Way = (id: string) => readonly [method: string, path: string, body?: object];

/** The requests that end a user's administration. */
const userEnds: Record<(typeof ways)[number], Way> = {
  demotion: (id: string) => ['PUT', `/users/${id}`, { role: 'requester' }],
  disabling: (id: string) => ['PUT', `/users/${id}`, { enabled: false }],
  deletion: (id: string) => ['DELETE', `/users/${id}`],
};
/** The same for a service account, which has routes of its own and which only its owner may change. */
const accountEnds: Record<(typeof ways)[number], Way> = {
  demotion: (id: string) => ['PATCH', `/service-accounts/${id}`, { role: 'requester' }],
  disabling: (id: string) => ['POST', `/service-accounts/${id}/disable`],
  deletion: (id: string) => ['DELETE', `/service-accounts/${id}`],
};

/** The result of many requests that end administrators' rights at the same time. */
export interface Round {
  readonly before: number;
  readonly left: number;
  readonly answers: readonly Answer[];
}

/** An installation with two API processes, whose only administrators are those of the current round. */
export class Administrators {
  readonly #api: TestApi;
  readonly #processes: readonly ApiProcess[];

  private constructor(api: TestApi, processes: readonly ApiProcess[]) {
    this.#api = api;
    this.#processes = processes;
  }

  static async open(): Promise<Administrators> {
    const api = await startApi();
    return new Administrators(api, await Promise.all([1, 2].map(() => startProcess(api.config))));
  }

  async close(): Promise<void> {
    await Promise.all(this.#processes.map((process) => process.stop()));
    await this.#api.close();
  }

  /**
   * Makes up to three users, and perhaps a service account of the first one, administrators. Then sends a request for each
   * of them and for each way to end an administrator's rights, all at once, by random administrators to random processes.
   */
  async round(random: Random): Promise<Round> {
    await this.#api.orm.em.fork().execute(`update principals set enabled = false where enabled`);
    const users = await Promise.all(Array.from({ length: random.whole(1, 3) }, () => addPerson(this.#api, 'admin')));
    const owner = users[0]!;
    const accounts = random.chance(0.6) ? [await addServiceAccount(this.#api, 'admin', {}, { userId: owner.id })] : [];
    const before = await this.#count();
    const attempts = [
      ...users.flatMap(({ id }) =>
        ways.map((way) => [random.pick([...users, ...accounts]), userEnds[way](id)] as const),
      ),
      ...accounts.flatMap(({ id }) => ways.map((way) => [owner, accountEnds[way](id)] as const)),
    ];
    const answers = await Promise.all(
      random.shuffle(attempts).map(([by, [method, path, body]]) => this.#callerOf(by, random).send(method, path, body)),
    );
    return { before, left: await this.#count(), answers };
  }

  #callerOf({ key }: Person, random: Random): Caller {
    return new Caller(random.pick(this.#processes).url, { 'x-api-key': key });
  }

  /** Counts the administrators (specification, *Authentication*, rule 12). */
  async #count(): Promise<number> {
    const [row] = await this.#api.orm.em.fork().execute<[{ count: number }]>(
      `select count(*)::int as count from principals p
         left join service_accounts a on a.id = p.id left join principals o on o.id = a.owner_user_id
        where p.role = 'admin' and p.enabled and p.deleted_at is null
          and (p.kind = 'user' or (p.kind = 'service_account' and o.id is not null and o.deleted_at is null))`,
    );
    return row.count;
  }
}
